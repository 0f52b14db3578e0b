export { addAvailability } from './availability-store.ts';
export { createOutcomeRecorder, type OutcomeRecorder } from './outcome-recorder.ts';
export { addPauses } from './pause-routes.ts';
export { type IsPaused, PAUSED_RETRY_MS, PAUSES, type Pausable } from './pauses.ts';
export { LIST_TIMEOUT_MS, listNewest, type PaymentQuery, unlessTooSlow } from './payment-list.ts';
export { addPaymentRoutes, findNamed, viewPayment } from './payment-route.ts';
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
export { isOverdue, NOT_REFUSED } from './refused-references.ts';
export { addStep, lastStep, type TimelineStep } from './timeline.ts';
