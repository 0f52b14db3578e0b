import { expect, test } from 'vitest';
import { createIds } from './ids.ts';
import { systemRandom } from './random.ts';
import { beginTrace, continueTrace } from './trace.ts';

const ids = createIds({ nowMs: () => 1_000, sleep: async () => undefined }, systemRandom);
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const FORM = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/;

test('a trace that begins has the form of one, and is another each time', () => {
  const traces = Array.from({ length: 50 }, () => beginTrace(ids));
  for (const trace of traces) expect(trace).toMatch(FORM);
  expect(new Set(traces).size).toBe(traces.length);
});

test.each([
  [`00-${TRACE}-${PARENT}-01`, `00-${TRACE}-${PARENT}-01`],
  [`00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
  [`01-${TRACE}-${PARENT}-03`, `00-${TRACE}-${PARENT}-03`],
  [`cc-${TRACE}-${PARENT}-01-what-the-future-brings`, `00-${TRACE}-${PARENT}-01`],
])('%s is continued', (header, expected) => {
  expect(continueTrace(header, ids)).toBe(expected);
});

test.each([
  undefined,
  '',
  'garbage',
  `ff-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-01-more`,
  `00-${TRACE}-${PARENT}`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `cc-${TRACE}-${PARENT}-01.more`,
  `00-${TRACE}-${PARENT}-0g`,
  `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
])('%j is not: a trace begins', (header) => {
  const begun = continueTrace(header, ids);
  expect(begun).toMatch(FORM);
  expect(begun).not.toContain(TRACE);
});
