import { breaksOfOpen } from './lives.ts';
import { executionsOf, isEnded, type Story, type Violation, type World } from './world.ts';

/** Each discrepancy of a payment has its one break, and each open break its discrepancy (R3). */
export function checkBreaks(story: Story): readonly Violation[] {
  const { payment, breaks } = story;
  const expected = discrepanciesOf(story);
  const missing = [...expected]
    .filter((kinds) => !breaks.some(({ kind }) => kinds.includes(kind)))
    .map((kinds) => `${kinds.join(' or ')} is missing`);
  const counted = Map.groupBy(breaks, ({ kind }) => kind);
  const twice = [...counted]
    .filter(([, all]) => all.length > 1)
    .map(([kind, all]) => `${kind} was opened ${all.length} times`);
  const explained = new Set([...[...expected].flat(), ...(isEnded(payment) ? [] : breaksOfOpen)]);
  const surplus = breaks
    .filter(({ kind, isOpen }) => isOpen && !explained.has(kind))
    .map(({ kind }) => `${kind} is open, and nothing explains it`);
  return [...missing, ...twice, ...surplus].map((what) => ({
    invariant: 'R3',
    reference: payment.reference,
    what,
  }));
}

/** What callbacks claimed that the rail itself contradicts; of each the break kinds of which one must be there. */
function discrepanciesOf(story: Story): ReadonlySet<readonly string[]> {
  const { payment, callbacks, moves } = story;
  const found = new Set<readonly string[]>();
  const isReversed = moves.some(({ kind }) => kind === 'reversal');
  const isTrue = (status: string) => {
    if (status === 'REVERSED') return isReversed;
    if (status === 'COMPLETED') return executionsOf(story, 'COMPLETED') > 0;
    return status !== 'FAILED' || executionsOf(story, 'FAILED') > 0;
  };
  if (callbacks.some(({ status }) => !isTrue(status))) found.add(['callback.denied']);
  const differs = callbacks.some(
    ({ status, amount }) => status !== 'FAILED' && amount !== null && amount !== payment.amount,
  );
  if (differs) found.add(['callback.amount_differs', 'collection.amount_differs']);
  return found;
}

/** Several reconcilers are as one (R2), and no break is about a payment that is not there (R3). */
export function checkReconcilers({ reconcilerEvents, breaks, payments }: World): readonly Violation[] {
  const found: Violation[] = [];
  const open = new Set<string>();
  const settled = new Set<string>();
  for (const { type, subject } of reconcilerEvents) {
    const name = (what: string) => found.push({ invariant: 'R2', reference: subject, what });
    if (type === 'opened' && open.has(subject)) name('was opened while it was open');
    if (type === 'resolved' && !open.has(subject)) name('was resolved while it was not open');
    if (type === 'settled' && settled.has(subject)) name('was settled twice');
    if (type === 'opened') open.add(subject);
    if (type === 'resolved') open.delete(subject);
    if (type === 'settled') settled.add(subject);
  }
  const known = new Set(payments.map(({ reference }) => reference));
  const foreign = breaks
    .filter(({ reference, isOpen }) => isOpen && !known.has(reference))
    .map(({ reference, kind }) => ({
      invariant: 'R3',
      reference,
      what: `${kind} is open, and is of no payment`,
    }));
  return [...found, ...foreign];
}
