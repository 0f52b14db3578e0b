import type {
  AttemptView,
  CallbackView,
  DeliveryView,
  EntryView,
  PaymentView,
  ShownBreakView,
  TimelineView,
} from '@pesewa/contracts';

/** A break with what it went through; of texts only what decisions say, because people wrote the others. */
export interface BreakHistory extends Pick<ShownBreakView, 'id' | 'kind' | 'status'> {
  readonly history: readonly Pick<ShownBreakView['history'][number], 'at' | 'by' | 'what' | 'text'>[];
}

/** A webhook with its attempts, the oldest first. */
export type DeliveryLog = Omit<DeliveryView, 'attempts'> & { readonly attempts: readonly AttemptView[] };

/** The services' answers about one payment. */
export interface TimelineSources {
  readonly payment: PaymentView | null;
  readonly callbacks: readonly CallbackView[];
  readonly reconciliation: Pick<TimelineView, 'status' | 'polls' | 'nextPollAt' | 'items'> | null;
  readonly breaks: readonly BreakHistory[];
  readonly entries: readonly EntryView[];
  readonly deliveries: readonly DeliveryLog[];
  /** The services that gave no answer, and why. */
  readonly missing: readonly { readonly service: string; readonly why: string }[];
  /** The lists that have more items than were read. */
  readonly cut: readonly string[];
}
