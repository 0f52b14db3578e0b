import { expect, it } from 'vitest';
import { describeCloseResult, describeStatementResult } from './results.ts';

it('names the results of a statement and of a close in words', () => {
  expect(['missing_here', 'missing_there', 'differs'].map(describeStatementResult)).toEqual([
    'not in our books',
    "not on the rail's statement",
    'differs',
  ]);
  expect(['missing_there', 'unclear'].map(describeCloseResult)).toEqual(['not at the rail', 'unclear']);
});
