import { nameOf, nameOfPayment } from './names.ts';
import type { Rule, Violation } from './rules.ts';
import type { Call, Payment, World } from './world.ts';

/** Compares merchants' answers with the records (P3 to P6, P8, P9). */
export function checkAcceptance(world: World): readonly Violation[] {
  const payments = Map.groupBy(world.payments, nameOfPayment);
  const calls = Map.groupBy(world.calls, nameOf);
  const batchedSince = batchItemsOf(world.calls);
  return [
    ...world.calls.flatMap(unreadable),
    ...[...calls].flatMap(([name, made]) => [
      ...clearInTheEnd(made),
      ...acceptedOnce(made),
      ...repeatsAreKnown(made, payments.get(name) ?? []),
      ...(batchedSince.has(name) ? [] : refusedLeavesNothing(made, payments.get(name) ?? [])),
      ...sameContent(made, payments.get(name) ?? []),
      ...acceptedIsRecorded(made, payments.get(name) ?? [], world),
      ...neverForgotten(made, batchedSince.get(name)),
    ]),
    ...[...payments].flatMap(([, recorded]) => referencesOnce(recorded)),
    ...openedOnce(world),
  ];
}

function unreadable({ outcome, reference, operation }: Call): readonly Violation[] {
  if (outcome !== 'strange') return [];
  const what = `${operation} got an answer that no client can read, or was never sent`;
  return [{ rule: 'P4 unreadable', reference, what }];
}

/**
 * The items of batches by name, with the time since when each was known by the answer to its batch; infinity if by
 * none.
 */
function batchItemsOf(calls: readonly Call[]): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  for (const call of calls) {
    const knownAtMs = call.outcome === 'accepted' ? call.endedAtMs : Infinity;
    for (const { reference } of call.items) {
      const name = nameOf({ ...call, reference });
      since.set(name, Math.min(since.get(name) ?? Infinity, knownAtMs));
    }
  }
  return since;
}

const submissions = (calls: readonly Call[]) => calls.filter(({ operation }) => operation === 'submit');

const isTaken = ({ outcome }: Call) => outcome === 'accepted' || outcome === 'ended';

const about = (rule: Rule, payments: readonly Payment[], what: string): readonly Violation[] =>
  payments.map(({ reference }) => ({ rule, reference, what }));

/** P4: a merchant that keeps asking gets a clear answer in the end, because everything is repaired. */
function clearInTheEnd(calls: readonly Call[]): readonly Violation[] {
  const sent = calls.filter(({ operation }) => operation === 'submit' || operation === 'batch');
  const last = sent.toSorted((a, b) => a.endedAtMs - b.endedAtMs).at(-1);
  if (last?.outcome !== 'ambiguous') return [];
  const { reference } = last;
  return [{ rule: 'P4 never clear', reference, what: `got no clear answer in ${sent.length} requests` }];
}

/** P3: a definitive refusal leaves nothing, unless another request of the same reference may have been taken. */
function refusedLeavesNothing(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  const submitted = submissions(calls);
  if (submitted.length === 0 || !submitted.every(({ outcome }) => outcome === 'refused')) return [];
  return about('P3 refused payment', payments, 'was refused for good, and is recorded all the same');
}

/** P4, P5: a repeated payout gets the same answer; a collection is accepted once, and then its reference is used. */
function acceptedOnce(calls: readonly Call[]): readonly Violation[] {
  const references = new Set(submissions(calls).flatMap(({ ours }) => (ours === null ? [] : [ours])));
  const taken = submissions(calls).filter((call) => call.api === 'collection' && isTaken(call));
  const [reference = ''] = references;
  const found: Violation[] = [];
  if (references.size > 1)
    found.push({
      rule: 'P4 two payments',
      reference,
      what: `one reference was answered with ${references.size} payments`,
    });
  if (taken.length > 1)
    found.push({
      rule: 'P5 accepted twice',
      reference,
      what: `is a collection that was accepted ${taken.length} times`,
    });
  return found;
}

/** P4: a repeated payout is the same payout, and no conflict; a repeated collection always is one (contract 7). */
function repeatsAreKnown(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  const conflicts = submissions(calls).filter(
    ({ api, outcome }) => api === 'payout' && outcome === 'conflict',
  );
  return about(
    'P4 conflict with itself',
    payments.filter(({ content }) => conflicts.some((call) => call.content === content)),
    'was refused as a conflict with itself',
  );
}

/** P6: a record has the accepted content, and different content under its reference is not stored. */
function sameContent(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  return submissions(calls)
    .filter(isTaken)
    .flatMap(({ content }) =>
      about(
        'P6 other content',
        payments.filter((payment) => payment.content !== content),
        'other content was accepted under its reference',
      ),
    );
}

/** P8: `09` is answered only once the payment is recorded and published. */
function acceptedIsRecorded(
  calls: readonly Call[],
  payments: readonly Payment[],
  { events }: World,
): readonly Violation[] {
  const accepted = submissions(calls).find(({ outcome }) => outcome === 'accepted');
  if (!accepted) return [];
  const { merchantId, reference } = accepted;
  if (payments.length === 0)
    return [{ rule: 'P8 unrecorded', reference, what: 'was answered 09, and is not recorded' }];
  const isPublished = events.some(
    (event) =>
      event.type === 'opened' && event.merchantId === merchantId && event.merchantReference === reference,
  );
  if (isPublished) return [];
  return [{ rule: 'P8 unannounced', reference, what: 'was answered 09, and there is no event for it' }];
}

/** P9: a payment that was accepted or shown is never unknown later; an item is known once its batch is. */
function neverForgotten(calls: readonly Call[], batchedSinceMs = Infinity): readonly Violation[] {
  const known = calls.filter(
    ({ outcome, operation }) => operation !== 'batch' && (outcome === 'accepted' || outcome === 'shown'),
  );
  const sinceMs = Math.min(batchedSinceMs, ...known.map(({ endedAtMs }) => endedAtMs));
  const denied = calls.find(({ outcome, startedAtMs }) => outcome === 'unknown' && startedAtMs > sinceMs);
  if (!denied) return [];
  const { reference } = denied;
  return [{ rule: 'P9 forgotten', reference, what: 'was known once, and unknown later' }];
}

/** P5: a reference of a merchant is one payment, for ever. */
function referencesOnce(payments: readonly Payment[]): readonly Violation[] {
  const [first, ...others] = payments;
  if (!first || others.length === 0) return [];
  return about('P5 reference twice', [first], `its merchant's reference is that of ${others.length} more`);
}

/** P5 again, by the events: a payment that was lost again would leave an event. */
function openedOnce({ events, payments }: World): readonly Violation[] {
  const known = new Set(payments.map(({ reference }) => reference));
  return events
    .filter(({ type, reference }) => type === 'opened' && !known.has(reference))
    .map(({ reference }) => ({
      rule: 'P5 unrecorded opening',
      reference,
      what: 'was opened, and is not recorded',
    }));
}
