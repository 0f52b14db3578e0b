import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, completed, ids, payoutFailed, reversed } from '../fixtures/owners.ts';
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
const lineOf = (reference: string, time: string, fee = '0.50') =>
  `${reference},R-${reference},-100.00,${fee},${time}`;
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
const match = async (content: string, given: Record<string, string | object>): Promise<string> => {
  const { body } = await upload(content, { rail: 'upstream', currency: 'KES', mapping, ...given });
  const id = String(body['id']);
  await until('it is matched', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
  return id;
};
const recordsOf = async (id: string) => listed((await request(`/statements/${id}/records`)).body);
const breaksOf = async (reference: string) =>
  listed((await request(`/breaks?reference=${reference}`)).body).map(({ kind, status }) => [kind, status]);
const uncompared = async () => {
  // The status is read anew after so long.
  harness.pass(5_000);
  return (await request('/status')).body['uncompared'] as readonly object[];
};
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

it('is to be compared again once the statement that has its line was dropped, also if it ended at another time', async () => {
  const { from, to, inMs } = nextHour();
  const [inside, outside] = [await begun(inMs), await begun(inMs)];
  await endedAt(inside, inMs);
  await endedAt(outside, Date.parse(to) + 1);
  const both = [inside, outside];
  const content = file(...both.map((reference) => lineOf(reference, iso(inMs))));
  const id = await match(content, { from, to });
  await Promise.all(both.map(isCompared));
  await request(`/statements/${id}`, { method: 'DELETE' });
  for (const reference of both)
    await until('it is marked', async () => (await rowOf(reference))?.uncompared === 'upstream');
  const again = await match(content, { from, to });
  await Promise.all(both.map(isCompared));
  expect(again).not.toBe(id);
});

it('opens no break that people have judged as it is dropped and uploaded again, but one of a further statement', async () => {
  const { from, to, inMs } = nextHour();
  const reference = await begun(inMs);
  await endedAt(reference, inMs);
  const content = file(lineOf(reference, iso(inMs), '0.75'));
  const id = await match(content, { from, to });
  expect(await breaksOf(reference)).toEqual([['statement.differs', 'open']]);
  const { version } = (await request(`/breaks/${encodeURIComponent(`${reference}/fee`)}`)).body;
  const change = `/breaks/${encodeURIComponent(`${reference}/fee`)}/resolve`;
  const resolved = await harness.postAs('ama', change, { resolution: 'agreed with the rail', version });
  expect(resolved).toMatchObject({ body: { status: 'resolved' } });
  await request(`/statements/${id}`, { method: 'DELETE' });
  await until('it is deleted', async () => (await request(`/statements/${id}`)).status === 404);
  expect(await match(content, { from, to })).not.toBe(id);
  expect(await breaksOf(reference)).toEqual([['statement.differs', 'resolved']]);
  await match(content, { from, to: iso(Date.parse(to) - 1) });
  expect(await breaksOf(reference)).toEqual([['statement.differs', 'open']]);
});

it('has the breaks again that only a dropped statement took back', async () => {
  const { from, to, inMs } = nextHour();
  const [other, missing] = [await begun(inMs), await begun(inMs)];
  for (const one of [other, missing]) await endedAt(one, inMs);
  await match(file(lineOf(other, iso(inMs), '0.75')), { from, to });
  const apart = await begun(inMs);
  await endedAt(apart, Date.parse(to) + 1);
  const untouched = await match(file(lineOf(apart, iso(inMs), '0.75')), { to: from, from: iso(hourMs - 1) });
  const stateOf = async () => {
    const { status, doneAt } = (await request(`/statements/${untouched}`)).body;
    return { status, doneAt };
  };
  const before = await stateOf();
  const wrong = await match(file(...[other, missing].map((one) => lineOf(one, iso(inMs)))), { from, to });
  const stands = async (one: string) => (await breaksOf(one)).map(([, status]) => status).join();
  for (const one of [other, missing]) expect(await stands(one)).toBe('resolved');
  await request(`/statements/${wrong}`, { method: 'DELETE' });
  for (const one of [other, missing]) await until('its break', async () => (await stands(one)) === 'open');
  // A statement of other payments has nothing to say again.
  expect(await stateOf()).toEqual(before);
});

it('a statement that is matched again, since the end of another payment came late, takes back nothing that a newer one says', async () => {
  const { from, to, inMs } = nextHour();
  const [corrected, late] = [await begun(inMs), await begun(inMs)];
  await endedAt(corrected, inMs);
  const first = await match(file(...[corrected, late].map((one) => lineOf(one, iso(inMs)))), { from, to });
  expect(await breaksOf(late)).toEqual([['statement.differs', 'open']]);
  await match(file(lineOf(corrected, iso(inMs), '0.75')), { from, to });
  expect(await breaksOf(corrected)).toEqual([['statement.differs', 'open']]);
  await endedAt(late, inMs + 1);
  const isResolved = async () => (await breaksOf(late)).some(([, status]) => status === 'resolved');
  await until('it was matched again', isResolved);
  await until('its breaks', async () => (await request(`/statements/${first}`)).body['status'] === 'done');
  expect(await breaksOf(corrected)).toEqual([['statement.differs', 'open']]);
});

it('what people have resolved stays resolved where two statements say it, and one is matched again', async () => {
  const { from, to, inMs } = nextHour();
  const [late, other] = [await begun(inMs), await begun(inMs)];
  await endedAt(other, inMs);
  const nameless = `,N-${late},-9.99,,${iso(inMs)}`;
  await match(file(lineOf(other, iso(inMs)), nameless), { from, to });
  const again = await match(file(lineOf(late, iso(inMs)), nameless), { from, to });
  const record = (await recordsOf(again)).find(({ railReference }) => railReference === `N-${late}`);
  const path = `/breaks/${encodeURIComponent(String(record?.['breakId']))}`;
  const { version } = (await request(path)).body;
  await harness.postAs('ama', `${path}/resolve`, { resolution: 'a gift', version });
  await endedAt(late, inMs + 1);
  const isResolved = async () => (await breaksOf(late)).some(([, status]) => status === 'resolved');
  await until('it was matched again', isResolved);
  await until('its breaks', async () => (await request(`/statements/${again}`)).body['status'] === 'done');
  expect((await request(path)).body['status']).toBe('resolved');
});

it('a line that is pending differs from a payment that has ended since, until a newer statement has its end', async () => {
  const { from, to, inMs } = nextHour();
  const next = nextHour();
  const columns = { ...mapping.columns, status: 'Status' };
  const statuses = { completed: ['Success'], pending: ['Pending'] };
  const withStatus = { ...mapping, columns, statuses };
  const matchStates = (window: object, status: string, ...references: readonly string[]) => {
    const lines = references.map((reference) => `${lineOf(reference, iso(inMs))},${status}`);
    return match(file(...lines).replace('Time', 'Time,Status'), { ...window, mapping: withStatus });
  };
  const [inside, after, other] = [await begun(inMs), await begun(inMs), await begun(inMs)];
  const pending = [inside, after];
  const first = await matchStates({ from, to }, 'Pending', ...pending);
  expect(await recordsOf(first)).toMatchObject([{ result: 'matched' }, { result: 'matched' }]);
  const open = await matchStates({ from, to: iso(inMs - 1) }, 'Success', other, ids.next('po'));
  await endedAt(inside, inMs + 1);
  await endedAt(after, next.inMs);
  await matchStates({ from: next.from, to: next.to }, 'Success', ids.next('po'));
  await Promise.all(pending.map(isCompared));
  await endedAt(other, inMs + 2);
  await until('another is matched again', async () => (await breaksOf(other))[0]?.[1] === 'resolved');
  for (const id of [first, open])
    await until('its breaks', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
  for (const one of pending) expect(await breaksOf(one)).toEqual([['statement.differs', 'open']]);
  const differs = { result: 'differs', differsIn: ['status'] };
  expect(await recordsOf(first)).toMatchObject([differs, differs]);
  await matchStates({ from: next.from, to: next.to }, 'Success', ...pending);
  for (const one of pending) expect(await breaksOf(one)).toEqual([['statement.differs', 'resolved']]);
});

it('is compared by no line of what was reversed, and by none that may be unreadable', async () => {
  const { from, to, inMs } = nextHour();
  const [back, failed] = [await begun(inMs), await begun(inMs)];
  await endedAt(back, inMs);
  await publish(at(payoutFailed(failed), inMs + 1));
  await until('it failed', async () => (await rowOf(failed))?.status === 'failed');
  const line = lineOf(back, iso(inMs));
  await match(file(line, `${failed},R,nothing,,`), { from, to });
  await isCompared(back);
  await publish(at(reversed(back), inMs + 2));
  await until('it came back', async () => (await rowOf(back))?.status === 'reversed');
  await match(file(line, 'x,R,nothing,,'), { from, to });
  for (const one of [back, failed]) expect((await rowOf(one))?.uncompared).toBe('upstream');
  await match(file(line, `${back},R-back,100.00,,${iso(inMs)}`), { from, to });
  await Promise.all([back, failed].map(isCompared));
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
    mapping: { ...mapping, holds: 'collections' },
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
  await harness.postAs('ama', '/closes', { date: from.slice(0, 10), rail: 'upstream' });
  await isCompared(reference);
  expect(await uncompared()).toEqual([]);
  expect(await harness.metrics()).toContain('oldest_uncompared_payment_seconds{rail="upstream"} 0');
});
