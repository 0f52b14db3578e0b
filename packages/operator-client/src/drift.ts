import type { WalletComparisonView } from '@pesewa/contracts';
import { displayAmount, unreachable } from '@pesewa/kernel';

/** How a time is written in a sentence. */
type TimeText = (at: string) => string;

const asItIs: TimeText = (at) => at;

/** Whether a comparison found a difference that payments in flight do not give. */
export function isUnexplained({ finding }: WalletComparisonView): boolean {
  return finding === 'out_of_range' || finding === 'unexplained_within_range';
}

/** What explains a wallet's difference, or that nothing does; undefined if there is no difference. */
export function describeDrift(run: WalletComparisonView, timeText = asItIs): string | undefined {
  const { currency, drift, finding, explainedBy, unexplained, unexplainedSince } = run;
  if (finding === 'explained')
    return explainedBy.length === 0
      ? undefined
      : `${displayAmount(drift, currency, 'exceptZero')} is exactly what ${explainedBy.join(', ')} would move`;
  const since = unexplainedSince === null ? '' : `; unexplained since ${timeText(unexplainedSince)}`;
  switch (finding) {
    case 'out_of_range':
      return `${displayAmount(unexplained, currency, 'exceptZero')} is unexplained${since}`;
    case 'unexplained_within_range':
      return `at least ${displayAmount(unexplained, currency)} is unexplained, either way: open payments could move as much, but no combination of them gives the difference${since}`;
    case 'books_moved':
      return `payments in ${currency} were posted whenever the rail answered, and so far nothing explains the difference${since}`;
    case 'too_many_to_tell':
      return `too many payments are open in ${currency} to tell whether they explain the difference${since}`;
    default:
      return unreachable(finding);
  }
}
