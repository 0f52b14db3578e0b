import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, closeSteps, type Day, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { callback, envelope } from '../fixtures/owners.ts';
import { listed, uploader } from '../fixtures/statements.ts';

const harness = createHarness('one', {
  ...process.env,
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { about, answers, operator, postAs, publish, request } = harness;
const { closed, nextDay, paidAt, recordOf } = closeSteps(harness, until);
const upload = uploader(request);

const mapping = {
  columns: {
    reference: 'Ref',
    railReference: 'Receipt',
    amount: 'Amount',
    fee: 'Fee',
    time: 'Time',
    status: 'Status',
  },
  time: { format: 'ISO' },
  statuses: { completed: ['OK'], failed: ['NO'] },
};
const line = (reference: string, amount = '-100', fee = '0.5', status = 'OK') =>
  `${reference},R-${reference},${amount},${fee},2026-03-01T00:00:00Z,${status}`;

/** Matches a statement over a period; gives its records by their payments. */
async function matched({ from, to }: Pick<Day, 'from' | 'to'>, ...lines: readonly string[]) {
  const content = `Ref,Receipt,Amount,Fee,Time,Status\r\n${lines.join('\r\n')}\r\n`;
  const taken = await upload(content, { rail: 'upstream', currency: 'KES', mapping, from, to });
  const id = String(taken.body['id']);
  await until('it is matched', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
  const records = listed((await request(`/statements/${id}/records?limit=500`)).body);
  return { id, of: (reference: string) => records.find(({ payment }) => payment === reference) };
}

type Shown = Readonly<Record<string, unknown>> & { readonly id: string; readonly status: string };
const breaksOf = async (reference: string) =>
  (await operator(`/breaks?reference=${reference}`)).items as unknown as readonly Shown[];
const openOf = async (reference: string) =>
  (await breaksOf(reference)).filter(({ status }) => status !== 'resolved').map(({ kind }) => kind);
const show = async (id: string) => (await request(`/breaks/${encodeURIComponent(id)}`)).body;
const change = (id: string, verb: string, body: object, by = 'ama') =>
  postAs(by, `/breaks/${encodeURIComponent(id)}/${verb}`, body);

/** Payouts, each with a different discrepancy that both a close and a statement find, and a statement line for each. */
async function discrepancies(day: Day) {
  const [fee = '', amount = '', status = '', missing = ''] = await paidAt(day.startMs, 4);
  answers.set(fee, { ...agreed, fee: 49n });
  answers.set(amount, { ...agreed, amount: 10_001n });
  answers.set(status, { kind: 'failed', reason: 'Declined' });
  answers.set(missing, { kind: 'notFound' });
  const lines = [line(fee, '-100', '0.49'), line(amount, '-100.01'), line(status, '-100', '0.5', 'NO')];
  return { fee, amount, status, missing, all: [fee, amount, status, missing], lines };
}
const opened = (reference: string) => about(reference, 'BreakOpened').map(({ payload }) => payload['kind']);
const further = (day: Day) => ({ from: day.from, to: new Date(day.startMs + 1_000).toISOString() });

beforeAll(harness.open);
afterAll(harness.close);

describe('a discrepancy that a close and a statement both find', () => {
  it('has the break of the close where that comes first, and the lines name it', async () => {
    const day = nextDay();
    const { fee, amount, status, missing, all, lines } = await discrepancies(day);
    await closed(day);
    const statement = await matched(day, ...lines);
    const kinds = {
      [fee]: ['fee', 'close.differs'],
      [amount]: ['amount', 'payout.amount_differs'],
      [status]: ['status', 'payment.contradiction'],
      [missing]: ['status', 'close.not_at_rail'],
    } as const;
    for (const [reference, [field]] of Object.entries(kinds)) {
      expect(statement.of(reference)).toMatchObject({ breakId: `${reference}/${field}`, alsoCoveredBy: [] });
    }
    expect((await request(`/statements/${statement.id}`)).body).toMatchObject({ breaksOpened: 0 });
    // Whatever is run again.
    await closed(day);
    await matched(further(day), ...lines);
    for (const reference of all)
      expect(await breaksOf(reference)).toMatchObject([{ kind: kinds[reference]?.[1] }]);
    await until('the events', () => all.every((reference) => opened(reference).length > 0));
    for (const reference of all) expect(opened(reference)).toEqual([kinds[reference]?.[1]]);
    expect(await show(`${fee}/fee`)).toMatchObject({
      observations: [
        { observer: 'close', kind: 'close.differs', amount: '-0.01' },
        { observer: 'statement', kind: 'statement.differs', amount: '-0.01' },
      ],
      version: 2,
    });
  });

  it('has the break that the statement opened where that comes first, and the close names it', async () => {
    const day = nextDay();
    const { fee, amount, status, missing, all, lines } = await discrepancies(day);
    await matched(day, ...lines);
    const { id } = await closed(day);
    await closed(day);
    await matched(further(day), ...lines);
    // What the lookup itself says of an end or an amount is stronger than what a statement says.
    const kinds = {
      [fee]: ['fee', 'statement.differs'],
      [amount]: ['amount', 'payout.amount_differs'],
      [status]: ['status', 'payment.contradiction'],
      [missing]: ['status', 'statement.not_on_statement'],
    } as const;
    for (const reference of all) {
      const [field, kind] = kinds[reference] ?? [];
      expect(await breaksOf(reference)).toMatchObject([{ id: `${reference}/${field}`, kind }]);
      expect(opened(reference)).toEqual([
        reference === missing ? 'statement.not_on_statement' : 'statement.differs',
      ]);
      expect(await recordOf(id, reference)).toMatchObject({
        result: reference === missing ? 'not_at_rail' : 'differs',
        breakId: `${reference}/${field}`,
      });
    }
  });

  it('has one break where both come at once', async () => {
    const days = Array.from({ length: 4 }, nextDay);
    for (const day of days) {
      const { all, lines } = await discrepancies(day);
      const [{ id }, statement] = await Promise.all([closed(day), matched(day, ...lines)]);
      for (const reference of all) {
        const [only, ...others] = await breaksOf(reference);
        expect(others).toEqual([]);
        expect(opened(reference)).toHaveLength(1);
        expect(statement.of(reference)).toMatchObject({ breakId: only?.id });
        expect(await recordOf(id, reference)).toMatchObject({ breakId: only?.id });
      }
    }
  });

  it('stands while one of them still finds it', async () => {
    const day = nextDay();
    const { fee, lines } = await discrepancies(day);
    await closed(day);
    await matched(day, ...lines);
    answers.set(fee, agreed);
    await closed(day);
    expect(await openOf(fee)).toEqual(['statement.differs']);
    expect(await show(`${fee}/fee`)).toMatchObject({ observations: [{ observer: 'statement' }] });
    await matched(further(day), line(fee));
    expect(await openOf(fee)).toEqual([]);
  });

  it('is no longer found by a statement that has it right', async () => {
    const day = nextDay();
    const { fee, lines } = await discrepancies(day);
    await closed(day);
    await matched(day, ...lines);
    await matched(further(day), line(fee));
    expect(await show(`${fee}/fee`)).toMatchObject({ status: 'open', observations: [{ observer: 'close' }] });
    answers.set(fee, agreed);
    await closed(day);
    expect(await openOf(fee)).toEqual([]);
  });

  it('closes by the lookup that says what we have, which a close asks too', async () => {
    const day = nextDay();
    const { amount, status } = await discrepancies(day);
    await closed(day);
    for (const reference of [amount, status]) answers.set(reference, agreed);
    await closed(day);
    for (const reference of [amount, status]) expect(await openOf(reference)).toEqual([]);
  });

  it('has two breaks if there are two: each is of its own field', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, fee: 49n });
    await closed(day);
    const statement = await matched(day, line(reference, '-101', '0.49'));
    expect(statement.of(reference)).toMatchObject({
      breakId: `${reference}/amount`,
      alsoCoveredBy: [`${reference}/fee`],
    });
    expect(await show(`${reference}/amount`)).toMatchObject({
      amount: '1',
      detail: "the rail's statement has another amount",
    });
  });
});

describe('what people have resolved of a statement', () => {
  it('stays resolved when its line is matched again, because another statement is dropped; a further one opens it', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    const first = await matched(day, line(reference, '-100', '0.49'));
    const id = `${reference}/fee`;
    expect((await change(id, 'resolve', { resolution: 'their prices' })).status).toBe(200);
    const other = await matched(further(day), line(reference));
    await request(`/statements/${other.id}`, { method: 'DELETE' });
    const statusOf = async (statement: string) => {
      const { status, body } = await request(`/statements/${statement}`);
      return status === 200 ? body['status'] : status;
    };
    await until('the other is gone', async () => (await statusOf(other.id)) === 404);
    await until('the first is matched', async () => (await statusOf(first.id)) === 'done');
    expect(first.of(reference)).toMatchObject({ result: 'differs', breakId: id });
    expect(await openOf(reference)).toEqual([]);
    await matched(further(day), line(reference, '-100', '0.49'));
    expect(await openOf(reference)).toEqual(['statement.differs']);
  });
});

describe('an adjustment', () => {
  const booked = (commandId: string, breakId: string) => ({
    topic: 'ledger' as const,
    key: 'upstream:KES',
    causationId: null,
    version: 1n,
    type: 'pesewa.ledger.SuspenseBooked' as const,
    payload: {
      ...envelope(),
      rail: 'upstream',
      currency: 'KES',
      amount: 100n,
      direction: 'surplus' as const,
      commandId,
      breakId,
      requestedAt: BigInt(Date.now()),
    },
  });

  /** A payout for which a callback claims one amount, the rail reports another, and a statement a third. */
  async function twice() {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    await publish(callback(reference, 'COMPLETED', '102'));
    await until('the break', async () => (await openOf(reference)).includes('callback.amount_differs'));
    await matched(day, line(reference, '-101'));
    const id = `${reference}/amount`;
    expect(await show(id)).toMatchObject({
      kind: 'statement.differs',
      observations: [{ kind: 'callback.amount_differs' }, { kind: 'statement.differs' }],
    });
    return { day, reference, id };
  }

  it('has its break resolved, and what it has corrected is not found again', async () => {
    const { day, reference, id } = await twice();
    await publish(booked(`cm-1-${reference}`, id));
    await until('the entry', async () => (await show(id))['status'] === 'resolved');
    // A corrected difference is found again and opens nothing: the record names the break that corrected it.
    const again = await matched(further(day), line(reference, '-101'));
    expect(again.of(reference)).toMatchObject({ result: 'differs', breakId: id });
    expect(await openOf(reference)).toEqual([]);
    // A second order that is booked all the same is noted.
    await publish(booked(`cm-2-${reference}`, id));
    await until(
      'that entry',
      async () => (await show(id))['corrections']?.toString().includes('cm-2') === true,
    );
    expect((await change(id, 'notes', { text: 'booked twice' })).status).toBe(200);
    // Another amount is news.
    await matched(
      { ...further(day), to: new Date(day.startMs + 2_000).toISOString() },
      line(reference, '-102'),
    );
    expect(await openOf(reference)).toEqual(['statement.differs']);
  });

  it('needs none where a later statement agrees, at whichever rail the break is shown', async () => {
    const { day, reference, id } = await twice();
    await harness
      .database()
      .collection('breaks')
      .updateOne({ _id: id as never }, { $set: { rail: 'other' } });
    await matched(further(day), line(reference, '-100'));
    expect(await openOf(reference)).toEqual(['callback.amount_differs']);
  });

  it('has its break again, once the next run finds what a person has resolved', async () => {
    const day = nextDay();
    const { fee, lines } = await discrepancies(day);
    await closed(day);
    const id = `${fee}/fee`;
    await change(id, 'resolve', { resolution: 'their prices' });
    await matched(day, ...lines);
    expect(await openOf(fee)).toEqual(['statement.differs']);
    const refused = await change(id, 'reopen', { reason: 'they are not' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'unresolved' } });
    expect(opened(fee)).toHaveLength(2);
  });
});
