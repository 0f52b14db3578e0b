import { unreachable } from '@pesewa/kernel';
import type { PayoutDomainEvent } from './payout-state.ts';

/** The description of a domain event for operators. */
export function describe(domainEvent: PayoutDomainEvent): string {
  switch (domainEvent.kind) {
    case 'submitted':
      return answers[domainEvent.answer];
    case 'requeued':
      return domainEvent.unclear ? 'not found at the rail, to be sent again' : 'not sent, to be sent again';
    case 'decided':
      return `two operators decided that it ${domainEvent.decided.outcome}: it waits for the attempt under way`;
    case 'lapsed':
      return 'what two operators decided has lapsed: it is unknown how an attempt ended that they could not know of';
    case 'cancelRequested':
      return `cancelled by ${domainEvent.by} before it was sent: it ends when the ledger answers for its hold`;
    case 'completed':
    case 'failed':
      if (domainEvent.kind === 'failed' && domainEvent.cancelledBy !== undefined)
        return `failed: cancelled by ${domainEvent.cancelledBy} before it was sent`;
      return domainEvent.byOperators ? `${domainEvent.kind}, as two operators decided` : domainEvent.kind;
    case 'withheld':
      return 'held, and not sent: it may have been before the database was restored';
    case 'held':
    case 'reversed':
      return domainEvent.kind;
    default:
      return unreachable(domainEvent);
  }
}

const answers = {
  accepted: 'accepted by the rail',
  unknown: 'no clear answer from the rail',
  refused: 'refused by the rail, an earlier attempt is unclear',
} as const;
