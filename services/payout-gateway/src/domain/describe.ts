import { unreachable } from '@pesewa/kernel';
import type { PayoutHappening } from './payout-state.ts';

/** The description of a happening for operators. */
export function wordsOf(happening: PayoutHappening): string {
  switch (happening.kind) {
    case 'submitted':
      return answers[happening.answer];
    case 'requeued':
      return happening.unclear ? 'not found at the rail, to be sent again' : 'not sent, to be sent again';
    case 'decided':
      return `two operators decided that it ${happening.decided.outcome}: it waits for the attempt under way`;
    case 'lapsed':
      return 'what two operators decided has lapsed: nobody knows how an attempt ended that came after what they knew';
    case 'completed':
    case 'failed':
      return happening.byPeople ? `${happening.kind}, as two operators decided` : happening.kind;
    case 'recovered':
      return `${happening.end.toLowerCase()} before the database was restored, as the ledger has booked`;
    case 'withheld':
      return 'held, and not sent: the database was restored, and has forgotten whom to pay';
    case 'held':
    case 'reversed':
      return happening.kind;
    default:
      return unreachable(happening);
  }
}

const answers = {
  accepted: 'accepted by the rail',
  unknown: 'no clear answer from the rail',
  refused: 'refused by the rail, an earlier attempt is unclear',
} as const;
