import { describe, expect, it } from 'vitest';
import { checkPosition, type Position, type PositionMismatch } from './position.ts';

const TOPIC_ID = 'a1';
const bounds = { topic: 'payouts.events.v1', partition: 3, topicId: TOPIC_ID, low: 0n, high: 100n };

interface Case {
  readonly stored?: {
    readonly next: bigint;
    readonly topicId?: string;
    readonly acceptedCommitted?: bigint;
    readonly truncatedAt?: bigint;
  };
  readonly committed?: bigint;
  readonly low?: bigint;
  readonly high?: bigint;
  readonly partition?: number;
}

function judge({ stored, committed, ...more }: Case): Position {
  return checkPosition({
    group: 'ledger',
    stored: stored ? { topicId: TOPIC_ID, ...stored } : null,
    bounds: { ...bounds, committed, ...more },
    partitions: 12,
  });
}

describe('a partition goes on', () => {
  it.each<readonly [string, Case, bigint]>([
    ['where the database and Kafka agree', { stored: { next: 50n }, committed: 50n }, 50n],
    ['where Kafka has heard less than the database knows', { stored: { next: 50n }, committed: 20n }, 50n],
    ['where Kafka has forgotten the group', { stored: { next: 50n } }, 50n],
    ['where nothing was committed since it began', { stored: { next: 0n }, committed: 0n }, 0n],
    ['where the oldest message is next', { stored: { next: 40n }, committed: 40n, low: 40n }, 40n],
    ['at the end', { stored: { next: 100n }, committed: 100n }, 100n],
    [
      'where an operator accepted what Kafka knows',
      { stored: { next: 50n, acceptedCommitted: 80n }, committed: 80n },
      50n,
    ],
  ])('%s', (_name, given, next) => {
    expect(judge(given)).toEqual({ kind: 'continues', next });
  });
});

describe('a partition begins', () => {
  it.each<readonly [string, Case]>([
    ['where no consumer has read it', {}],
    ['where it is empty', { high: 0n }],
    ['where a group had come to its start and no further', { committed: 0n }],
  ])('%s', (_name, given) => {
    expect(judge(given)).toEqual({ kind: 'begins', next: 0n });
  });
});

it('gives the same result for a log that was cut, however it grows', () => {
  const cut = judge({ stored: { next: 120n }, high: 100n });
  expect(judge({ stored: { next: 120n, truncatedAt: 100n }, high: 200n })).toEqual(cut);
  expect(judge({ stored: { next: 50n }, low: 70n })).toEqual(judge({ stored: { next: 50n }, low: 60n }));
});

describe('a partition is stopped', () => {
  it.each<readonly [string, Case, PositionMismatch, string]>([
    ['recreated topic', { stored: { next: 50n, topicId: 'b2' } }, 'recreated', 'pesewa realign'],
    [
      'recreated topic whose offsets look right',
      { stored: { next: 50n, topicId: 'b2' }, committed: 50n },
      'recreated',
      'pesewa realign',
    ],
    ['cut log', { stored: { next: 50n }, committed: 50n, low: 51n }, 'messages removed', 'pesewa realign'],
    [
      'cut log of a restored database',
      { stored: { next: 50n }, committed: 90n, low: 51n },
      'restored',
      'the argument recover',
    ],
    [
      'cut log of a restored database that was repaired',
      { stored: { next: 50n, acceptedCommitted: 90n }, committed: 90n, low: 51n },
      'messages removed',
      'pesewa realign',
    ],
    ['log that ends before', { stored: { next: 101n }, committed: 101n }, 'log truncated', 'pesewa realign'],
    ['log that is empty again', { stored: { next: 1n }, high: 0n }, 'log truncated', 'pesewa realign'],
    [
      'log that has grown again',
      { stored: { next: 90n, truncatedAt: 80n }, committed: 90n },
      'log truncated',
      'pesewa realign',
    ],
    ['lost document', { committed: 1n }, 'lost', 'the argument recover'],
    ['lost document of a cut log', { committed: 70n, low: 60n }, 'lost', 'the argument recover'],
    ['first look at a log without its beginning', { low: 1n }, 'unknown start', 'pesewa realign'],
    ['lost document, forgotten group', { low: 60n, committed: 0n }, 'unknown start', 'pesewa realign'],
    ['restored database', { stored: { next: 50n }, committed: 51n }, 'restored', 'the argument recover'],
    [
      'database restored again after it was accepted',
      { stored: { next: 50n, acceptedCommitted: 80n }, committed: 90n },
      'restored',
      'the argument recover',
    ],
    [
      'database restored to less than was accepted',
      { stored: { next: 50n, acceptedCommitted: 80n }, committed: 60n },
      'restored',
      'the argument recover',
    ],
    ['added partition', { partition: 12 }, 'added', 'deploy the version'],
    ['added partition that has a position', { partition: 12, stored: { next: 1n } }, 'added', 'deploy'],
  ])('%s', (_name, given, mismatch, remedy) => {
    const position = judge(given);
    expect(position).toMatchObject({ kind: 'stopped', mismatch });
    const remedyText = position.kind === 'stopped' ? position.remedy : '';
    expect(remedyText).toContain(remedy);
    const isRepaired = mismatch === 'restored' || mismatch === 'lost';
    const page = isRepaired ? 'docs/database-restored.md' : 'docs/runbooks/partition-stopped.md';
    expect(remedyText).toContain(page);
    const isRealigned = mismatch !== 'added' && !isRepaired;
    expect(remedyText.includes('pesewa realign ledger payouts.events.v1 3 --reason ')).toBe(isRealigned);
  });
});
