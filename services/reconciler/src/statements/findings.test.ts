import { describe, expect, it } from 'vitest';
import type { Field } from '../domain/break-kinds.ts';
import { compare, type StatementPayment } from '../domain/statement-matching.ts';
import type { StatementRow } from '../domain/statement-rows.ts';
import { awaited } from '../domain/tracked.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { payment, row } from '../fixtures/statement-rows.ts';
import { breaksOfRecord, withdrawalsOf } from './findings.ts';
import type { StatedLine, StatementDocument } from './store.ts';

const statement = (given: Partial<StatementDocument>) =>
  ({ _id: 'st-1', rail: 'upstream', ...given }) as StatementDocument;

function lineOf(line: StatementRow, ours: StatementPayment, rail: string, run = 'st-1') {
  const keepUntil = new Date(0);
  const of = statement({ _id: run, rail });
  return { _id: `${run}/1`, run, statement: of, keepUntil, row: line, ...compare(line, ours, rail) };
}

/** What stands of a payout's field after one statement, and then another. */
async function standsAfter(
  field: Field,
  first: Partial<StatementRow>,
  then: Partial<StatementRow>,
  {
    ours = {},
    rail = 'upstream',
  }: { readonly ours?: Partial<StatementPayment>; readonly rail?: string } = {},
) {
  const { kept, tell } = breaksInMemory();
  const at = new Date(0);
  const opens = lineOf(row(first), payment(), 'upstream');
  await tell(breaksOfRecord(statement({}), opens, [], at), awaited('po-1', 0));
  const before = kept.get(`po-1/${field}`);
  if (!before) throw new Error('the first statement found nothing');
  const lines = [lineOf(row(then), payment(ours), rail, 'st-2'), opens];
  await tell(withdrawalsOf(before, lines, at), awaited('po-1', 0));
  return kept.get(`po-1/${field}`)?.status;
}

describe('a later statement takes back what an earlier one said', () => {
  const fee = { fee: 75n };
  const reversal = { kind: 'reversal' } as const;

  it.each<[string, Field, Partial<StatementRow>, Partial<StatementRow>]>([
    ['its fee is ours', 'fee', fee, { fee: 50n }],
    ['its amount is ours, whatever its fee', 'amount', { amount: 9_000n }, fee],
    ['its status is ours', 'status', { status: 'failed' }, {}],
    ['its currency is ours', 'currency', { currency: 'GHS' }, {}],
  ])('where %s', async (_, field, first, then) => {
    expect(await standsAfter(field, first, then)).toBe('resolved');
  });

  it('where the payment has come back here too', async () => {
    const ours = { status: 'reversed' } as const;
    expect(await standsAfter('status', reversal, reversal, { ours })).toBe('resolved');
  });

  it.each<[string, Field, Partial<StatementRow>, Partial<StatementRow>]>([
    ['without a fee', 'fee', fee, {}],
    ['about the reversal alone', 'fee', fee, reversal],
    ['that says it failed', 'fee', fee, { status: 'failed', fee: 50n }],
    ['that says it failed', 'amount', { amount: 9_000n }, { status: 'failed' }],
    ['in another currency', 'amount', { amount: 9_000n }, { currency: 'GHS' }],
    ['about the payment alone, of its reversal', 'status', reversal, {}],
    ['with the same difference', 'fee', fee, fee],
  ])('but not a line %s, of the %s', async (_, field, first, then) => {
    expect(await standsAfter(field, first, then)).toBe('open');
  });

  it('but not one of another rail', async () => {
    const elsewhere = { rail: 'other', ours: { rail: 'other' } };
    expect(await standsAfter('amount', { amount: 9_000n }, {}, elsewhere)).toBe('open');
  });
});

it('finds in a statement that is uploaded again what people have judged, and in a further one what is news', () => {
  const about = (_id: string, name: string) => {
    const line = lineOf(row({ fee: 75n }), payment(), 'upstream', _id);
    return breaksOfRecord(statement({ _id, name }), line, [], new Date(0)).map((one) => one.about);
  };
  expect(about('st-1', 'same')).toEqual([['same/1 25']]);
  expect(about('st-20', 'same')).toEqual(about('st-1', 'same'));
  expect(about('st-1', 'further')).not.toEqual(about('st-1', 'same'));
});

describe('an older statement that is matched again', () => {
  const older = lineOf(row({ fee: 50n }), payment(), 'upstream', 'st-1');
  const newer = lineOf(row({ fee: 75n }), payment(), 'upstream', 'st-2');
  const silent = lineOf(row(), payment(), 'upstream', 'st-3');
  const found = (of: typeof older, stated: readonly StatedLine[]) =>
    breaksOfRecord(of.statement, of, stated, new Date(0));

  it('takes nothing back that a newer one says, until one newer than that has it as we have', async () => {
    const { kept, tell } = breaksInMemory();
    await tell(found(newer, [newer, older]), awaited('po-1', 0));
    const fee = kept.get('po-1/fee');
    if (!fee) throw new Error('the newer one found nothing');
    expect(withdrawalsOf(fee, [silent, newer, older], new Date(0))).toEqual([]);
    expect(withdrawalsOf(fee, [{ ...older, run: 'st-4' }, newer], new Date(0))).toMatchObject([
      { kind: 'statement.differs', field: 'fee', resolution: 'the statement st-4 has it as we have' },
    ]);
  });

  it('says nothing of a field in which a newer one agrees, and what no newer one has compared', () => {
    expect(found(newer, [{ ...older, _id: 'st-3/1', run: 'st-3' }, newer])).toEqual([]);
    expect(found(newer, [silent, newer])).toMatchObject([{ field: 'fee' }]);
  });
});
