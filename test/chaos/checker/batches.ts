import { nameOf, nameOfBatch, nameOfPayment } from './names.ts';
import type { Violation } from './rules.ts';
import type { Batch, Call, Payment, World } from './world.ts';

/** A batch is accepted completely or not at all (P3 to P5, P7 and P8 of batches). */
export function checkBatches(world: World): readonly Violation[] {
  const { batches, calls, payments } = world;
  const byName = Map.groupBy(payments, nameOfPayment);
  const headers = new Map(batches.map((batch) => [nameOfBatch(batch), batch]));
  const asked = Map.groupBy(
    calls.filter(({ operation }) => operation === 'batch'),
    nameOf,
  );
  return [
    ...headersAreNoPayments(batches, byName),
    ...batches.flatMap((batch) => torn(batch, asked.get(nameOfBatch(batch)) ?? [], payments, byName)),
    ...itemsOfNoBatch(batches, payments),
    ...[...asked].flatMap(([name, made]) => [
      ...accepted(made, headers.get(name), byName),
      ...refused(made, headers.get(name), byName),
      ...conflicts(made, headers.get(name), payments, byName),
    ]),
  ];
}

type Payments = ReadonlyMap<string, readonly Payment[]>;

/** The payment that an item became, if any. */
const recordOf = (call: Call, { reference }: Call['items'][number], payments: Payments) =>
  payments.get(nameOf({ ...call, reference }))?.[0];

/** P5: the reference of a batch is in the same space of references. */
function headersAreNoPayments(batches: readonly Batch[], payments: Payments): readonly Violation[] {
  return batches
    .filter((batch) => payments.has(nameOfBatch(batch)))
    .map(({ reference }) => ({
      rule: 'P5 batch and payout',
      reference,
      what: 'is a batch whose reference is a payout’s too',
    }));
}

/** Whether a recorded batch has exactly the items of a request, with their contents. */
function hasItemsOf(
  call: Call,
  { reference }: Batch,
  payments: readonly Payment[],
  byName: Payments,
): boolean {
  const own = payments.filter(({ batchReference }) => batchReference === reference);
  return (
    own.length === call.items.length &&
    call.items.every((item) => {
      const record = recordOf(call, item, byName);
      return record?.batchReference === reference && record.content === item.content;
    })
  );
}

/** P7: a recorded batch is what its merchant sent, answered or not. */
function torn(
  batch: Batch,
  calls: readonly Call[],
  payments: readonly Payment[],
  byName: Payments,
): readonly Violation[] {
  if (calls.some((call) => hasItemsOf(call, batch, payments, byName))) return [];
  const what = 'is a batch whose items are not those that its merchant sent';
  return [{ rule: 'P7 torn batch', reference: batch.reference, what }];
}

/** P7: an item without its batch is part of a batch that was not accepted. */
function itemsOfNoBatch(batches: readonly Batch[], payments: readonly Payment[]): readonly Violation[] {
  const known = new Set(batches.map(({ reference }) => reference));
  return payments
    .filter(({ batchReference }) => batchReference !== null && !known.has(batchReference))
    .map(({ reference, batchReference }) => ({
      rule: 'P7 item of no batch',
      reference,
      what: `is an item of ${batchReference ?? ''}, which is not recorded`,
    }));
}

/** P7, P8: a batch that was answered 09 exists with each of its items. */
function accepted(
  calls: readonly Call[],
  header: Batch | undefined,
  payments: Payments,
): readonly Violation[] {
  const call = calls.find(({ outcome }) => outcome === 'accepted');
  if (!call) return [];
  const { reference, items } = call;
  if (!header) {
    const what = 'is a batch that was answered 09, and is not recorded';
    return [{ rule: 'P8 unrecorded batch', reference, what }];
  }
  return items
    .filter((item) => recordOf(call, item, payments)?.content !== item.content)
    .map((item) => ({
      rule: 'P7 missing item',
      reference: item.reference,
      what: 'is not recorded with its batch',
    }));
}

/** P3: a batch that was always refused leaves nothing. */
function refused(
  calls: readonly Call[],
  header: Batch | undefined,
  payments: Payments,
): readonly Violation[] {
  if (!calls.every(({ outcome }) => outcome === 'refused')) return [];
  const rule = 'P3 refused batch';
  const what = 'is of a batch that was refused for good, and is recorded all the same';
  const left = calls.flatMap((call) => call.items.flatMap((item) => recordOf(call, item, payments) ?? []));
  return [...(header ? [header] : []), ...new Set(left)].map(({ reference }) => ({ rule, reference, what }));
}

/** P4: a repeated batch is the same batch, and no conflict. */
function conflicts(
  calls: readonly Call[],
  header: Batch | undefined,
  payments: readonly Payment[],
  byName: Payments,
): readonly Violation[] {
  if (!header) return [];
  const isSame = (call: Call) => hasItemsOf(call, header, payments, byName);
  if (!calls.some((call) => call.outcome === 'conflict' && isSame(call))) return [];
  const what = 'is a batch that was refused as a conflict with itself';
  return [{ rule: 'P4 batch conflict with itself', reference: header.reference, what }];
}
