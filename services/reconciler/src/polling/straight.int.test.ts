import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, captured, completed, ids, submitted } from '../fixtures/owners.ts';

const harness = createHarness('str', { ...process.env, FIRST_POLL_AFTER_MS: '60000' });
const { about, answers, asked, database, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

/** An operation as MongoDB's profiler records it. */
interface Profiled {
  readonly ns: string;
  readonly op: string;
  readonly command: { readonly q?: { readonly _id?: string } };
}

beforeAll(harness.open);
afterAll(harness.close);

it('writes a payout that goes straight when it begins, by its callback, its end and its entry, and not when its rail acknowledges it', async () => {
  const [reference, marker] = [ids.next('po'), ids.next('po')];
  answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
  await database().command({ profile: 2 });
  await publish(accepted(reference));
  await until('the payout', async () => (await rowOf(reference)) !== null);
  const before = await rowOf(reference);
  // Events of one wallet are applied in order.
  await publish(submitted(reference, 'acknowledged'), accepted(marker));
  await until('what came later', async () => (await rowOf(marker)) !== null);
  expect(await rowOf(reference)).toEqual(before);
  await publish(callback(reference, 'COMPLETED'));
  await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
  await publish(completed(reference));
  await until('the end', async () => (await rowOf(reference))?.status === 'completed');
  await publish(captured(reference));
  await until('the entry', async () => (await rowOf(reference))?.forgetAt !== undefined);
  await database().command({ profile: 0 });
  const profile = database().collection<Profiled>('system.profile');
  const writes = await profile.find({ op: 'update', 'command.q._id': reference }).toArray();
  expect(writes.filter(({ ns }) => ns.endsWith('.polls'))).toHaveLength(4);
  expect(asked.filter((one) => one === reference)).toHaveLength(1);
});
