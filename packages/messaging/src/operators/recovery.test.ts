import { expect, it } from 'vitest';
import { checkPosition } from '../inbox/position.ts';
import type { Realignment } from './realignment.ts';
import { mayBeRestored, type Recovery, recoveryOf } from './recovery-checks.ts';
import type { PartitionPosition } from './service-positions.ts';

const topicId = 'a1';

/** A partition whose log ends at 100, given our database's position and what Kafka and the operators know. */
function partition(given: {
  readonly next?: bigint;
  readonly committed?: bigint;
  readonly acceptedCommitted?: bigint;
  readonly realigned?: Partial<Realignment>;
}): PartitionPosition {
  const { next, committed, acceptedCommitted, realigned } = given;
  const bounds = { topic: 't', partition: 0, topicId, low: 0n, high: 100n, committed };
  const accepted = acceptedCommitted === undefined ? {} : { acceptedCommitted };
  const stored = next === undefined ? null : { _id: 'g/t/0', topicId, next, owner: 'x', ...accepted };
  const standing = { group: 'g', stored, bounds, partitions: 8 };
  const done = { status: 'done', topicId, ...realigned } as Realignment;
  return {
    ...standing,
    id: 'g/t/0',
    position: checkPosition(standing),
    realignment: realigned ? done : null,
  };
}

const fits = partition({ next: 40n, committed: 40n });

it.each<readonly [string, PartitionPosition, Recovery]>([
  ['fits', fits, 'current'],
  ['has read everything, and Kafka has forgotten the group', partition({ next: 100n }), 'current'],
  ['is behind, and Kafka has forgotten the group', partition({ next: 40n }), 'behind'],
  ['was restored', partition({ next: 40n, committed: 80n }), 'older'],
  ['is lost', partition({ committed: 80n }), 'older'],
  [
    'was restored, and may start',
    partition({ next: 40n, committed: 80n, acceptedCommitted: 80n, realigned: {} }),
    'behind',
  ],
  ['was restored, and has started', partition({ next: 60n, committed: 60n, realigned: {} }), 'behind'],
  [
    'was restored, and has read everything',
    partition({ next: 100n, committed: 100n, realigned: {} }),
    'behind',
  ],
  [
    'may start when another operator agrees',
    partition({ next: 40n, committed: 40n, realigned: { status: 'proposed' } }),
    'current',
  ],
  [
    'started anew when its old topic was there',
    partition({ next: 40n, committed: 40n, realigned: { topicId: 'a0' } }),
    'current',
  ],
])('a database with a partition that %s', (_name, one, recovery) => {
  expect(recoveryOf([one])).toBe(recovery);
  expect(recoveryOf([fits, one, fits])).toBe(recovery);
});

it('is older as long as one partition is, however far the others are', () => {
  const older = partition({ next: 40n, committed: 80n });
  expect(recoveryOf([partition({ next: 60n, realigned: {} }), older])).toBe('older');
});

it.each<readonly [string, PartitionPosition, boolean]>([
  ['fits', fits, false],
  ['has read everything', partition({ next: 100n, committed: 100n }), false],
  ['has a position that is not committed to Kafka yet', partition({ next: 40n }), false],
  ['was restored', partition({ next: 40n, committed: 80n }), true],
  ['is lost', partition({ committed: 80n }), true],
  [
    'was restored, and may start',
    partition({ next: 40n, committed: 80n, acceptedCommitted: 80n, realigned: {} }),
    true,
  ],
  ['was restored, and has started', partition({ next: 60n, committed: 60n, realigned: {} }), false],
  [
    'was put forward, and may start',
    partition({ next: 90n, committed: 80n, acceptedCommitted: 80n, realigned: {} }),
    false,
  ],
])('a database with a partition that %s is said to have gone back, or not', (_name, one, goneBack) => {
  expect(mayBeRestored([fits, one, fits])).toBe(goneBack);
});

it('may have gone back where Kafka knows nothing of the whole group', () => {
  expect(mayBeRestored([partition({ next: 40n }), partition({ next: 100n })])).toBe(true);
});
