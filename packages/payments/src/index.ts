export {
  type ArchivedDocument,
  type ArchivedPayment,
  archiveOf,
  isArchived,
  isArchivedDocument,
  isBeforeHorizon,
  type PaymentOrArchived,
  paymentKeepSettings,
  readArchived,
  refuseEarlyArchive,
} from './archive.ts';
export { addPaymentRoute, viewPayment } from './payment-route.ts';
export {
  attemptUpdate,
  fromPaymentDocument,
  openPaymentStore,
  type PaymentChange,
  type PaymentDocument,
  type PaymentStore,
  paymentId,
  paymentIndexes,
  paymentUpdate,
  toPaymentDocument,
  withAttempt,
} from './payment-store.ts';
export {
  addStep,
  lastStep,
  type TimelineStep,
} from './timeline.ts';
