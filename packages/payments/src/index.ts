export {
  type ArchivedDocument,
  type ArchivedPayment,
  archiveOf,
  type Found,
  isArchived,
  isArchivedDocument,
  isBeforeHorizon,
  paymentKeepSettings,
  readArchived,
  refuseEarlyArchive,
} from './archive.ts';
export {
  attemptMark,
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentId,
  paymentIndexes,
} from './payment-store.ts';
export {
  addStep,
  lastStep,
  type TimelineStep,
  type TimelineStepDocument,
  timelineFromDocument,
  timelineToDocument,
} from './timeline.ts';
