import { describe, expect, it } from 'vitest';
import { findCrashPoints } from './crash-points.ts';
import { crashExceptions, crashSequences } from './crash-rows.ts';
import { collectionCrashActs, collectionCrashExceptions } from './crash-rows-collections.ts';
import { reconcilerCrashRows } from './crash-rows-reconciler.ts';
import type { CrashAt } from './crash-runner.ts';

describe('the crash points', () => {
  it('are found in the code', () => {
    expect(findCrashPoints().length).toBeGreaterThan(60);
    expect(findCrashPoints()).toContain('payout-gateway/payout-gateway.batch.before-commit');
    expect(findCrashPoints()).toContain('collection-gateway/relay.after-send');
  });
});

interface Flow {
  readonly flow: string;
  readonly rows: readonly CrashAt[];
  readonly exceptions: typeof crashExceptions;
}

const coveredBy = (rows: readonly CrashAt[]) =>
  new Set(rows.map(({ service, point }) => `${service}/${point}`));

const flows: readonly Flow[] = [
  { flow: 'payouts', rows: crashSequences.flat(), exceptions: crashExceptions },
  { flow: 'collections', rows: collectionCrashActs.flat(2), exceptions: collectionCrashExceptions },
];
const byPayments = coveredBy(flows.flatMap(({ rows }) => rows));
const byNoPayment = new Set([...coveredBy(reconcilerCrashRows)].filter((point) => !byPayments.has(point)));
const coveredByAny = new Set([...byPayments, ...byNoPayment]);

describe('the crash matrices together', () => {
  it('have a row for every point, without exception', () => {
    expect(findCrashPoints().filter((point) => !coveredByAny.has(point))).toEqual([]);
  });

  it('have no row for a point that is gone', () => {
    const points = findCrashPoints();
    expect([...coveredByAny].filter((point) => !points.includes(point))).toEqual([]);
  });
});

describe.each(flows)('the crash matrix of $flow', ({ rows, exceptions }) => {
  const covered = coveredBy(rows);
  const isElsewhere = (point: string) => covered.has(point) || byNoPayment.has(point);

  it('has a row for every point, unless no payment passes it, or says why there is none', () => {
    const excepted = (point: string) => exceptions.some(({ points }) => points.test(point));
    expect(findCrashPoints().filter((point) => !isElsewhere(point) && !excepted(point))).toEqual([]);
  });

  it('has no excuse that excuses nothing', () => {
    const missing = findCrashPoints().filter((point) => !isElsewhere(point));
    expect(exceptions.filter(({ points }) => !missing.some((point) => points.test(point)))).toEqual([]);
  });
});
