import { breaksOfOpen } from './lives.ts';
import { type Finding, type Violation, violationsOf } from './rules.ts';
import { type Evidence, executionsOf, isEnded, type World } from './world.ts';

/** Each discrepancy of a payment has its break, and each open break its discrepancy (R3). */
export function checkBreaks(evidence: Evidence): readonly Violation[] {
  const { payment, breaks } = evidence;
  const expected = discrepanciesOf(evidence);
  const missing = [...expected]
    .filter((kinds) => !breaks.some(({ kind }) => kinds.includes(kind)))
    .map((kinds): Finding => ['R3 missing', `${kinds.join(' or ')} is missing`]);
  const explained = new Set([...[...expected].flat(), ...(isEnded(payment) ? [] : breaksOfOpen)]);
  const surplus = breaks
    .filter(({ kind, isOpen }) => isOpen && !explained.has(kind))
    .map(({ kind }): Finding => ['R3 unexplained', `${kind} is open, and nothing explains it`]);
  return violationsOf(payment.reference, [...missing, ...surplus]);
}

/** Callbacks' claims that the rail itself contradicts; for each, the kinds of breaks of which one must exist. */
function discrepanciesOf(evidence: Evidence): ReadonlySet<readonly string[]> {
  const { payment, callbacks, moves } = evidence;
  const found = new Set<readonly string[]>();
  const isReversed = moves.some(({ kind }) => kind === 'reversal');
  const isTrue = (status: string) => {
    if (status === 'REVERSED') return isReversed;
    if (status === 'COMPLETED') return executionsOf(evidence, 'COMPLETED') > 0;
    return status !== 'FAILED' || executionsOf(evidence, 'FAILED') > 0;
  };
  if (callbacks.some(({ status }) => !isTrue(status))) found.add(['callback.denied']);
  const differs = callbacks.some(
    ({ status, amount }) => status !== 'FAILED' && amount !== null && amount !== payment.amount,
  );
  if (differs) found.add(['callback.amount_differs', 'collection.amount_differs']);
  return found;
}

/** Several reconcilers act as one (R2), each discrepancy opens one break, and no wallet drifts in between (R3). */
export function checkReconcilers({ reconcilerEvents }: World): readonly Violation[] {
  const bySubject = Map.groupBy(reconcilerEvents, ({ subject }) => subject);
  return [...bySubject].flatMap(([subject, all]) => {
    const events = all.toSorted((a, b) => Number(a.version - b.version));
    const found: Finding[] = [];
    let isOpen = false;
    const openings = new Map<string, number>();
    let isFinalised = false;
    for (const { type, kind = '' } of events) {
      if (type === 'opened' && isOpen) found.push(['R2 opened while open', 'was opened while it was open']);
      if (type === 'resolved' && !isOpen)
        found.push(['R2 resolved while closed', 'was resolved while it was not open']);
      if (type === 'finalised' && isFinalised) found.push(['R2 finalised twice', 'was finalised twice']);
      if (type === 'opened' && !isOpen) openings.set(kind, (openings.get(kind) ?? 0) + 1);
      if (type === 'finalised') isFinalised = true;
      else isOpen = type === 'opened';
    }
    // One field may have several discrepancies after another, each of another kind.
    for (const times of openings.values())
      if (times > 1) found.push(['R3 opened again', `was opened and closed ${times} times`]);
    // Only payments move these wallets, so payments in flight explain each difference, whatever fault there was.
    if (openings.size > 0 && subject.endsWith('/balance'))
      found.push(['R3 drift', 'was reported for a wallet that only payments moved']);
    return violationsOf(subject, found);
  });
}
