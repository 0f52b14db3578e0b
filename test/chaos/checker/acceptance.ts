import type { Call, Payment, Violation, World } from './world.ts';

/** What a merchant's reference is unique within. */
const nameOf = ({
  merchantId,
  api,
  reference,
}: {
  readonly merchantId: string;
  readonly api: string;
  readonly reference: string;
}) => `${merchantId}/${api}/${reference}`;

const nameOfPayment = ({ merchantId, api, merchantReference }: Payment) =>
  nameOf({ merchantId, api, reference: merchantReference });

/** What merchants were told against what was recorded (P3 to P9). */
export function checkAcceptance(world: World): readonly Violation[] {
  const payments = Map.groupBy(world.payments, nameOfPayment);
  const calls = Map.groupBy(world.calls, nameOf);
  const inBatches = batchItemsOf(world.calls);
  return [
    ...world.calls.flatMap(strange),
    ...[...calls].flatMap(([name, made]) => [
      ...acceptedOnce(made),
      ...repeatsAreKnown(made, payments.get(name) ?? []),
      ...(inBatches.has(name) ? [] : refusedLeavesNothing(made, payments.get(name) ?? [])),
      ...sameContent(made, payments.get(name) ?? []),
      ...acceptedIsRecorded(made, payments.get(name) ?? [], world),
      ...neverForgotten(made),
    ]),
    ...[...payments].flatMap(([, recorded]) => referencesOnce(recorded)),
    ...openedOnce(world),
    ...headersAreNoPayments(world, payments),
    ...wholeBatches(world, payments),
  ];
}

function strange({ outcome, reference, operation }: Call): readonly Violation[] {
  if (outcome !== 'strange') return [];
  return [{ invariant: 'P4', reference, what: `${operation} got an answer that no client can read` }];
}

function batchItemsOf(calls: readonly Call[]): ReadonlySet<string> {
  return new Set(calls.flatMap((call) => call.items.map(({ reference }) => nameOf({ ...call, reference }))));
}

const submissions = (calls: readonly Call[]) => calls.filter(({ operation }) => operation === 'submit');

/** P3: a definitive refusal leaves nothing, unless another request of the same reference may have been taken. */
function refusedLeavesNothing(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  const submitted = submissions(calls);
  if (submitted.length === 0 || !submitted.every(({ outcome }) => outcome === 'refused')) return [];
  return payments.map(({ reference }) => ({
    invariant: 'P3',
    reference,
    what: 'was refused for good, and is recorded all the same',
  }));
}

/** P4: asked for again, it is the same payment. */
function acceptedOnce(calls: readonly Call[]): readonly Violation[] {
  const told = new Set(submissions(calls).flatMap(({ ours }) => (ours === null ? [] : [ours])));
  if (told.size <= 1) return [];
  const [reference = ''] = told;
  return [{ invariant: 'P4', reference, what: `one reference was answered with ${told.size} payments` }];
}

/** P4: the same payout again is the same payout, and no conflict; a collection's repeat is one always (contract 7). */
function repeatsAreKnown(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  return payments
    .filter(({ api, content }) =>
      submissions(calls).some(
        (call) => api === 'payout' && call.outcome === 'conflict' && call.content === content,
      ),
    )
    .map(({ reference }) => ({ invariant: 'P4', reference, what: 'was refused as a conflict with itself' }));
}

/** P6: what is recorded is what was accepted, and other content under its reference is not. */
function sameContent(calls: readonly Call[], payments: readonly Payment[]): readonly Violation[] {
  return submissions(calls).flatMap(({ outcome, content }) =>
    payments
      .filter((payment) => (outcome === 'accepted' || outcome === 'ended') && payment.content !== content)
      .map(({ reference }) => ({
        invariant: 'P6',
        reference,
        what: 'other content was accepted under its reference',
      })),
  );
}

/** P8: `09` only once it is recorded and told. */
function acceptedIsRecorded(
  calls: readonly Call[],
  payments: readonly Payment[],
  { events }: World,
): readonly Violation[] {
  const accepted = submissions(calls).find(({ outcome }) => outcome === 'accepted');
  if (!accepted) return [];
  const { merchantId, reference } = accepted;
  if (payments.length === 0)
    return [{ invariant: 'P8', reference, what: 'was answered 09, and is not recorded' }];
  const isTold = events.some(
    (event) =>
      event.type === 'opened' && event.merchantId === merchantId && event.merchantReference === reference,
  );
  return isTold ? [] : [{ invariant: 'P8', reference, what: 'was answered 09, and no event tells of it' }];
}

/** P9: once it was accepted or shown, it is never unknown. */
function neverForgotten(calls: readonly Call[]): readonly Violation[] {
  const known = calls.filter(
    ({ outcome, operation }) => operation !== 'batch' && (outcome === 'accepted' || outcome === 'shown'),
  );
  const sinceMs = Math.min(...known.map(({ endedAtMs }) => endedAtMs));
  const denied = calls.find(({ outcome, startedAtMs }) => outcome === 'unknown' && startedAtMs > sinceMs);
  if (!denied) return [];
  return [{ invariant: 'P9', reference: denied.reference, what: 'was known once, and unknown later' }];
}

/** P5: a reference of a merchant is one payment, for ever. */
function referencesOnce(payments: readonly Payment[]): readonly Violation[] {
  const [first, ...others] = payments;
  if (!first || others.length === 0) return [];
  const what = `its merchant's reference is that of ${others.length} more`;
  return [{ invariant: 'P5', reference: first.reference, what }];
}

/** P5 again, by what was told: a payment that came and went would leave an event. */
function openedOnce({ events, payments }: World): readonly Violation[] {
  const known = new Set(payments.map(({ reference }) => reference));
  return events
    .filter(({ type, reference }) => type === 'opened' && !known.has(reference))
    .map(({ reference }) => ({ invariant: 'P5', reference, what: 'was opened, and is not recorded' }));
}

/** P5: the header of a batch is in the same space of references. */
function headersAreNoPayments(
  { batches }: World,
  payments: ReadonlyMap<string, readonly Payment[]>,
): readonly Violation[] {
  return batches
    .filter(({ merchantId, merchantReference }) =>
      payments.has(nameOf({ merchantId, api: 'payout', reference: merchantReference })),
    )
    .map(({ reference }) => ({
      invariant: 'P5',
      reference,
      what: 'is a batch whose reference is a payout’s too',
    }));
}

/** P7: a batch is there as a whole, or not at all. */
function wholeBatches(
  { batches, calls, payments: all }: World,
  payments: ReadonlyMap<string, readonly Payment[]>,
): readonly Violation[] {
  const items = Map.groupBy(all, ({ batchReference }) => batchReference);
  const torn = batches.flatMap(({ reference, items: count, total }) => {
    const own = items.get(reference) ?? [];
    const sum = own.reduce((minor, { amount }) => minor + amount, 0n);
    if (own.length === count && sum === total) return [];
    const what = `has ${own.length} items of ${sum}; its header says ${count} of ${total}`;
    return [{ invariant: 'P7', reference, what }];
  });
  const accepted = new Set(
    batches.map((batch) => nameOf({ ...batch, api: 'payout', reference: batch.merchantReference })),
  );
  const told = calls
    .filter(({ operation }) => operation === 'batch')
    .flatMap((call) => judgeBatchCall(call, accepted.has(nameOf(call)), payments));
  return [...torn, ...told];
}

function judgeBatchCall(
  call: Call,
  isRecorded: boolean,
  payments: ReadonlyMap<string, readonly Payment[]>,
): readonly Violation[] {
  const { reference, outcome, items } = call;
  if (outcome === 'accepted' && !isRecorded)
    return [{ invariant: 'P8', reference, what: 'is a batch that was answered 09, and is not recorded' }];
  if (outcome !== 'accepted') return [];
  return items
    .filter((item) => {
      const [payment] = payments.get(nameOf({ ...call, reference: item.reference })) ?? [];
      return payment?.content !== item.content;
    })
    .map((item) => ({ invariant: 'P7', reference: item.reference, what: 'is not recorded with its batch' }));
}
