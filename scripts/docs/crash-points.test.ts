import { expect, it } from 'vitest';
import { crashOutcomes } from './crash-outcomes.ts';
import { renderCrashPoints } from './crash-points.ts';

it('says of every crash point what is left behind and who continues, and of nothing else', () => {
  const rows = renderCrashPoints().trimEnd().split('\n').slice(2);
  expect(rows.filter((row) => / \|  \|/.test(row))).toEqual([]);
  expect(rows).toHaveLength(crashOutcomes.length);
});
