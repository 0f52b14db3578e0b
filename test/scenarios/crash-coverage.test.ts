import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crashExceptions, crashSequences } from './crash-rows.ts';
import { collectionCrashActs, collectionCrashExceptions } from './crash-rows-collections.ts';
import { reconcilerCrashRows } from './crash-rows-reconciler.ts';
import type { CrashAt } from './crash-runner.ts';

const root = join(import.meta.dirname, '..', '..');

interface Source {
  /** Undefined for a package. */
  readonly service: string | undefined;
  readonly text: string;
}

/** The sources of all packages and services, without tests and test fixtures. */
function readSources(): readonly Source[] {
  return ['packages', 'services'].flatMap((kind) =>
    readdirSync(join(root, kind)).flatMap((name) =>
      readdirSync(join(root, kind, name, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$|(^|\/)fixtures\//.test(path))
        .map((path) => ({
          service: kind === 'services' ? name : undefined,
          text: readFileSync(join(root, kind, name, 'src', path), 'utf8'),
        })),
    ),
  );
}

/** A group commit by its name, and commits of one item at a time, which are group commits too. */
const COMMITS = /(?:\.groupCommit(?:<[\s\S]{0,200}?>)?\(|\bcommitEach\(\s*[\w.]+,)\s*'([^']+)'/g;

const both = (name: string) => [`${name}.before-commit`, `${name}.after-commit`];

/** The crash points in a source: named ones, those of group commits and those of consumers. */
function pointsIn({ service, text }: Source): readonly string[] {
  return [
    ...[...text.matchAll(/crashPoint\(\s*'([^']+)'/g)].map(([, name = '']) => name),
    ...[...text.matchAll(COMMITS)].flatMap(([, name = '']) => both(name)),
    ...(service !== undefined && /\.consume\(/.test(text) ? both(`${service}.batch`) : []),
  ];
}

/** Every crash point in the code, as `service/point`; a package's point counts for each service that sends messages. */
function crashPoints(): readonly string[] {
  const sources = readSources();
  const senders = sources.flatMap(({ service, text }) =>
    service !== undefined && text.includes('openMessaging(') ? [service] : [],
  );
  const found = sources.flatMap((source) =>
    pointsIn(source).flatMap((point) =>
      (source.service === undefined ? senders : [source.service]).map((service) => `${service}/${point}`),
    ),
  );
  return [...new Set(found)].toSorted();
}

describe('the crash points', () => {
  it('are found in the code', () => {
    expect(crashPoints().length).toBeGreaterThan(60);
    expect(crashPoints()).toContain('payout-gateway/payout-gateway.batch.before-commit');
    expect(crashPoints()).toContain('collection-gateway/relay.after-send');
  });

  it('are listed in ARCHITECTURE.md, one by one', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const isDocumented = (point: string) =>
      text.includes(`\`${point.replace(/^[^/]+\//, '').replace(/^[a-z-]+\.batch\./, '<service>.batch.')}\``);
    expect(crashPoints().filter((point) => !isDocumented(point))).toEqual([]);
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
    expect(crashPoints().filter((point) => !coveredByAny.has(point))).toEqual([]);
  });

  it('have no row for a point that is gone', () => {
    const points = crashPoints();
    expect([...coveredByAny].filter((point) => !points.includes(point))).toEqual([]);
  });
});

describe.each(flows)('the crash matrix of $flow', ({ rows, exceptions }) => {
  const covered = coveredBy(rows);
  const isElsewhere = (point: string) => covered.has(point) || byNoPayment.has(point);

  it('has a row for every point, unless no payment passes it, or says why there is none', () => {
    const excepted = (point: string) => exceptions.some(({ points }) => points.test(point));
    expect(crashPoints().filter((point) => !isElsewhere(point) && !excepted(point))).toEqual([]);
  });

  it('has no excuse that excuses nothing', () => {
    const missing = crashPoints().filter((point) => !isElsewhere(point));
    expect(exceptions.filter(({ points }) => !missing.some((point) => points.test(point)))).toEqual([]);
  });
});
