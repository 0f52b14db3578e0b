import type { BreakView, ShownBreakView } from '@pesewa/contracts';
import type { Answers, openConsole } from '../console.fixture.ts';

/** A text that somebody wrote against us. */
export const evil = '<script>alert("1")</script>\'"';
/** A break in lists. */
export const row = {
  id: 'upstream:GHS/balance',
  kind: 'wallet.drift',
  reference: 'upstream:GHS',
  rail: 'upstream',
  status: 'open',
  currency: 'GHS',
  amount: '-12.5',
  detail: evil,
  owner: null,
  explanation: null,
  openedAt: '2026-11-27T08:00:00Z',
  since: '2026-11-27T08:00:00Z',
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  version: 3,
} satisfies BreakView;
/** The same as it is shown. */
export const whole = {
  ...row,
  observations: [{ observer: 'audit', kind: 'wallet.drift', amount: '-12.5', detail: evil, at: row.since }],
  corrections: [],
  history: [{ at: row.since, by: 'kofi', what: 'noted', text: evil, amount: null }],
  ours: '100',
  theirs: '87.5',
  lines: [{ statement: 'st-1', line: 7, receipt: evil }],
  floatChange: '-12.5',
  waitsFor: null,
} satisfies ShownBreakView;
/** Its page. */
export const path = '/breaks/upstream%3AGHS%2Fbalance';
/** The request that shows it. */
export const api = `reconciler GET ${path}`;
const run = {
  id: 'rn-1',
  at: '2026-11-27T11:00:00Z',
  rail: 'upstream',
  configured: true,
  currency: 'GHS',
  railBalance: '87.5',
  float: '100',
  drift: '-12.5',
  lower: '100',
  upper: '100',
  withinRange: false,
  finding: 'out_of_range',
  explainedBy: [],
  unexplained: '-12.5',
  unexplainedSince: null,
  candidates: [{ reference: 'po-1', why: evil }],
};
const status = {
  at: row.since,
  open: null,
  silent: null,
  polls: null,
  breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: row.since }],
  breakSums: [],
  comparison: null,
  coverage: null,
  close: null,
  caughtUp: null,
  unreported: [],
};
export const answers: Answers = {
  'reconciler GET /breaks': { items: [row], next: '5.x' },
  'reconciler GET /status': status,
  [api]: whole,
  'reconciler GET /drift': { items: [run], next: null },
  'ledger GET /commands': { items: [], next: null },
  'ledger GET /floats': { items: [{ rail: 'upstream', currency: 'GHS', balance: '100' }], next: null },
};
/** What was changed, in order. */
export const changesOf = ({ asked }: ReturnType<typeof openConsole>) =>
  asked.filter(({ what }) => !what.includes(' GET ')).map(({ what, body }) => [what, body]);
