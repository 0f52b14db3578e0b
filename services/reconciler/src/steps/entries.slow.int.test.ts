import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, captured, completed, ids } from '../fixtures/owners.ts';

const limits = { BOOKS_GRACE_MS: '300', STEP_LIMIT_MS: '300', STEP_PAUSE_MS: '100' };
const harness = createHarness('entries', { ...process.env, ...limits });
const { about, database, operator, publish, rowOf } = harness;
let followers: Awaited<ReturnType<typeof harness.joinOwners>>;

/** The breaks of its entry, and not of its webhook, which nobody creates here. */
const breaks = async (reference: string) =>
  (await operator(`/breaks?reference=${reference}&kind=books.unposted`)).items;
const heardOfEntry = (reference: string, type: string) =>
  about(reference, type).filter(
    ({ payload }) => payload['step'] === 'entry' || payload['kind'] === 'books.unposted',
  ).length;
const requests = (reference: string) => heardOfEntry(reference, 'RepublishRequested');
const followed = (reference: string) =>
  database().collection('steps').countDocuments({ reference, step: 'entry' });
const untilBreak = (reference: string, kind: string, status: string) =>
  eventually(async () => expect(await breaks(reference)).toMatchObject([{ kind, status }]));

beforeAll(async () => {
  await harness.open();
  followers = await harness.joinOwners();
});
afterAll(async () => {
  await followers.close();
  await harness.close();
});

it('keeps asking for a missing entry after its break was opened, until it comes', async () => {
  const reference = ids.next('po');
  await publish(accepted(reference), completed(reference));
  await untilBreak(reference, 'books.unposted', 'open');
  const before = requests(reference);
  await eventually(() => expect(requests(reference)).toBeGreaterThan(before + 1));
  expect(await harness.metrics()).toMatch(/^republish_requests_total\{step="entry"\} ([3-9]|\d\d)/m);
  await publish(captured(reference));
  await untilBreak(reference, 'books.unposted', 'resolved');
  await eventually(async () => expect(await followed(reference)).toBe(0));
  expect(heardOfEntry(reference, 'BreakOpened')).toBe(1);
  expect(heardOfEntry(reference, 'BreakResolved')).toBe(1);
  expect((await rowOf(reference))?.breaks).not.toContain('books.unposted');
});
