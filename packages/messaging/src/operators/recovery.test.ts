import { expect, it } from 'vitest';
import { checkPosition } from '../inbox/position.ts';
import { showsOlderDatabase, stoppedOf } from './recovery.ts';

const at = (next: bigint | null, committed: bigint | undefined, topicId = 'a1') => ({
  stored: next === null ? null : { _id: 'g/t/0', next, topicId, owner: 'one' },
  bounds: { topic: 't', partition: 0, topicId: 'a1', low: 60n, high: 100n, committed },
});

it.each([
  ['a position that Kafka is ahead of', [at(70n, 70n), at(70n, 71n)]],
  ['one whose messages Kafka no longer has', [at(50n, 80n)]],
  ['one that operators have realigned, until it goes on', [{ ...at(70n, 80n), acceptedCommitted: 80n }]],
  ['a database without positions', [at(null, 80n), at(70n, 70n)]],
  ['a group that Kafka has forgotten, and new topics', [at(70n, undefined), at(70n, undefined, 'b2')]],
  ['new topics that something was started on', [at(70n, 0n, 'b2'), at(null, 0n)]],
])('an older database shows by %s', (_name, positions) => {
  expect(showsOlderDatabase(positions)).toBe(true);
});

it.each([
  ['a group that is where the database is, or behind', [at(70n, 70n), at(70n, 61n)]],
  ['a partition that nothing was committed of', [at(70n, 70n), at(60n, undefined), at(null, 0n)]],
  ['a service that consumes nothing', []],
])('%s shows none', (_name, positions) => {
  expect(showsOlderDatabase(positions)).toBe(false);
});

it.each([
  ['messages removed', 20n, at(40n, 40n)],
  ['restored', 0n, at(70n, 80n)],
  ['restored', 20n, at(40n, 80n)],
  ['lost', 60n, at(null, 80n)],
  ['recreated', 60n, at(70n, 80n, 'b2')],
  ['log truncated', 0n, at(120n, 120n)],
])('a partition that is stopped as %s lacks %i messages in Kafka', (mismatch, gone, given) => {
  const position = checkPosition({ group: 'g', partitions: 12, ...given });
  const isReadAgain = mismatch !== 'messages removed';
  expect(stoppedOf([{ ...given, position }])).toMatchObject([{ place: 't/0', mismatch, gone, isReadAgain }]);
});
