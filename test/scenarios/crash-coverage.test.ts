import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crashExceptions, crashLanes } from './crash-rows.ts';

const root = join(import.meta.dirname, '..', '..');

/** The sources of every package and service, without tests and what only tests use. */
function sources(): readonly { readonly service: string | undefined; readonly text: string }[] {
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

const both = (name: string) => [`${name}.before-commit`, `${name}.after-commit`];

/** Every crash point that the code passes: named ones, those of group commits, those of consumers. */
function crashPoints(): readonly string[] {
  const found = sources().flatMap(({ service, text }) => [
    ...[...text.matchAll(/crashPoint\(\s*'([^']+)'/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/\.groupCommit(?:<[\s\S]{0,200}?>)?\(\s*'([^']+)'/g)].flatMap(([, name = '']) =>
      both(name),
    ),
    ...(service !== undefined && /\.consume\(/.test(text) ? both(`${service}.chunk`) : []),
  ]);
  return [...new Set(found)].toSorted();
}

const isException = (point: string) => crashExceptions.some(({ points }) => points.test(point));

describe('the crash matrix', () => {
  const rows = new Set(crashLanes.flat().map(({ point }) => point));

  it('finds the points in the code', () => {
    expect(crashPoints().length).toBeGreaterThan(40);
    expect(crashPoints()).toContain('payout-gateway.chunk.before-commit');
  });

  it('has a row for every point, or says why there is none', () => {
    expect(crashPoints().filter((point) => !rows.has(point) && !isException(point))).toEqual([]);
  });

  it('has no row for a point that is gone', () => {
    const points = new Set(crashPoints());
    expect([...rows].filter((point) => !points.has(point))).toEqual([]);
    expect(
      crashExceptions.filter(({ points: names }) => ![...points].some((point) => names.test(point))),
    ).toEqual([]);
  });

  it('is told in ARCHITECTURE.md, point by point', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const told = (point: string) =>
      text.includes(`\`${point.replace(/^[a-z-]+\.chunk\./, '<service>.chunk.')}\``);
    expect(crashPoints().filter((point) => !told(point))).toEqual([]);
  });
});
