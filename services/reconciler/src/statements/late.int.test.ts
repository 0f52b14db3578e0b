import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, completed, ids } from '../fixtures/owners.ts';
import { railSettings } from '../fixtures/rail.ts';
import { listed, uploader } from '../fixtures/statements.ts';

const harness = createHarness('late', {
  ...process.env,
  RAILS: JSON.stringify([{ ...railSettings, sendsStatements: true }]),
  // Every second, in place of every night.
  CLOSE_INTERVAL: '* * * * * *',
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
});
const { answers, publish, request, rowOf } = harness;
const upload = uploader(request);
const mapping = {
  columns: { reference: 'Ref', railReference: 'Receipt', amount: 'Amount', fee: 'Fee', time: 'Time' },
  time: { format: 'ISO' },
};
const file = (...lines: readonly string[]) => ['Ref,Receipt,Amount,Fee,Time', ...lines, ''].join('\r\n');
const lineOf = (reference: string, time: string) => `${reference},R-${reference},-100.00,0.50,${time}`;
const iso = (ms: number) => new Date(ms).toISOString();
const until = (what: string, met: () => Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

/** An hour of two days ago that no other test uses. */
let hourMs = Date.now() - 2 * 86_400_000;
function nextHour() {
  hourMs += 3_600_000;
  return { from: iso(hourMs), to: iso(hourMs + 3_600_000), inMs: hourMs + 60_000 };
}

const begun = async (beganMs: number): Promise<string> => {
  const reference = ids.next('po');
  await publish(at(accepted(reference), beganMs));
  await until('it began', async () => (await rowOf(reference)) !== null);
  return reference;
};
const endedAt = async (reference: string, endMs: number): Promise<void> => {
  await publish(at(completed(reference), endMs));
  await until('it ended', async () => (await rowOf(reference))?.status === 'completed');
};
const match = async (content: string, given: Record<string, string>): Promise<string> => {
  const { body } = await upload(content, { rail: 'upstream', currency: 'KES', mapping, ...given });
  const id = String(body['id']);
  await until('it is matched', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
  return id;
};
const recordsOf = async (id: string) => listed((await request(`/statements/${id}/records`)).body);
const breaksOf = async (reference: string) =>
  listed((await request(`/breaks?reference=${reference}`)).body).map(({ kind, status }) => [kind, status]);
const uncompared = async () => (await request('/status')).body['uncompared'] as readonly object[];
const isCompared = (reference: string) =>
  until('it is compared', async () => {
    const row = await rowOf(reference);
    return row?.endedAt !== undefined && row.uncompared === undefined;
  });

beforeAll(harness.open);
afterAll(harness.close);

describe('a payment whose end is heard of after the statement of its time', () => {
  it('has its line compared again, and is listed if it has none', async () => {
    const { from, to, inMs } = nextHour();
    const [listedOne, missing] = [await begun(inMs), await begun(inMs)];
    const id = await match(file(lineOf(listedOne, iso(inMs))), { from, to });
    expect(await recordsOf(id)).toMatchObject([{ payment: listedOne, result: 'differs' }]);
    expect(await breaksOf(listedOne)).toEqual([['statement.differs', 'open']]);
    await endedAt(listedOne, inMs + 1);
    await endedAt(missing, inMs + 2);
    await isCompared(listedOne);
    await isCompared(missing);
    await until('its breaks', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
    expect(await recordsOf(id)).toMatchObject([
      { payment: listedOne, result: 'matched', breakId: null },
      { payment: missing, result: 'not_on_statement', breakId: `${missing}/status` },
    ]);
    expect(await breaksOf(listedOne)).toEqual([['statement.differs', 'resolved']]);
    expect(await breaksOf(missing)).toEqual([['statement.not_on_statement', 'open']]);
    expect(await uncompared()).toEqual([]);
  });

  it('has its line found though it was not known at all', async () => {
    const { from, to, inMs } = nextHour();
    const reference = ids.next('po');
    const id = await match(file(lineOf(reference, iso(inMs))), { from, to });
    expect(await breaksOf(reference)).toEqual([['statement.not_in_books', 'open']]);
    await publish(at(accepted(reference), inMs - 1));
    await endedAt(reference, inMs);
    await isCompared(reference);
    await until('its break', async () => (await breaksOf(reference))[0]?.[1] === 'resolved');
    expect(await recordsOf(id)).toMatchObject([{ payment: reference, result: 'matched' }]);
  });

  it('is compared by a line of another time', async () => {
    const { from, to, inMs } = nextHour();
    const reference = await begun(inMs);
    await endedAt(reference, Date.parse(to) + 1);
    const id = await match(file(lineOf(reference, iso(inMs))), { from, to });
    await isCompared(reference);
    expect(await recordsOf(id)).toMatchObject([{ payment: reference, result: 'matched' }]);
  });
});

it('is to be compared again once its statement was dropped', async () => {
  const { from, to, inMs } = nextHour();
  const reference = await begun(inMs);
  await endedAt(reference, inMs);
  const id = await match(file(lineOf(reference, iso(inMs))), { from, to });
  await isCompared(reference);
  await request(`/statements/${id}`, { method: 'DELETE' });
  await until('it is marked', async () => (await rowOf(reference))?.uncompared === 'upstream');
  const again = await match(file(lineOf(reference, iso(inMs))), { from, to });
  await isCompared(reference);
  expect(again).toBe(id);
});

it('shows the payments that no statement is about, until a close of the rail has compared them', async () => {
  const { from, to, inMs } = nextHour();
  const reference = await begun(inMs);
  await endedAt(reference, inMs);
  const other = file(lineOf(ids.next('po'), iso(inMs)));
  const oldest = [{ rail: 'upstream', reference, endedAt: iso(inMs) }];
  expect(await uncompared()).toEqual(oldest);
  // Of another time, currency and kind.
  await match(other, { from: to, to: iso(Date.parse(to) + 1) });
  await match(other, { from, to, currency: 'GHS' });
  await match(other.replace('-100', '100'), {
    from,
    to,
    mapping: { ...mapping, holds: 'collections' } as never,
  });
  expect(await uncompared()).toEqual(oldest);
  expect(await harness.metrics()).toMatch(/oldest_uncompared_payment_seconds{rail="upstream"} [1-9]/);
  const future = { from, to: iso(Date.now() + 60_000) };
  const refused = await upload(other, { rail: 'upstream', currency: 'KES', mapping, ...future });
  expect(refused).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^to must/) as unknown },
  });
  answers.set(reference, agreed);
  await harness.postAs('ama', '/closes', { from, to, rail: 'upstream' });
  await isCompared(reference);
  expect(await uncompared()).toEqual([]);
  expect(await harness.metrics()).toContain('oldest_uncompared_payment_seconds{rail="upstream"} 0');
});
