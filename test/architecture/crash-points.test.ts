import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@pesewa/scripts/command';
import { expect, it } from 'vitest';
import { findCrashPoints } from '../scenarios/crash-points.ts';

it('docs/crash-points.md says of every crash point what is left behind and who continues, and of nothing else', () => {
  const page = readFileSync(path.join(repositoryRoot, 'docs/crash-points.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (`[^|]*) \| ([^|]*) \| ([^|]*) \|$/gm)];
  const named = rows.flatMap(([, points = '']) => points.split(', ').map((point) => point.slice(1, -1)));
  const names = findCrashPoints().map((point) =>
    point.replace(/^[^/]+\//, '').replace(/^[a-z-]+\.batch\./, '<service>.batch.'),
  );
  expect(named.toSorted()).toEqual([...new Set(names)].toSorted());
  expect(rows.filter(([, , left = '', next = '']) => left === '' || next === '')).toEqual([]);
});
