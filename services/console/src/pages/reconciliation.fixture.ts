import type {
  BreakView,
  CloseRecordView,
  CloseView,
  CoverageView,
  RailStatementRecordView,
  RailStatementView,
  StatusView,
  WalletComparisonView,
} from '@pesewa/contracts';
import { type Answers, answered, openConsole } from '../console.fixture.ts';

/** What somebody hostile writes. */
export const EVIL = '"><script>alert(1)</script>';
/** The same as it may stand in a page. */
export const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;';
/** The only page of a list. */
export const listed = <Item>(...items: readonly Item[]) => ({ items, next: null });

/** A wallet out of range. */
export const wallet = {
  id: 'rn-2',
  at: '2026-11-27T11:00:00.000Z',
  rail: 'upstream',
  configured: true,
  currency: 'KES',
  railBalance: '1240',
  float: '0',
  drift: '1240',
  lower: '-5',
  upper: '5',
  withinRange: false,
  finding: 'out_of_range',
  explainedBy: [],
  unexplained: '1235',
  unexplainedSince: '2026-11-27T10:45:00.000Z',
  candidates: [{ reference: 'co-1', why: EVIL }],
} satisfies WalletComparisonView;

const found = {
  id: 'upstream:KES/balance',
  kind: 'wallet.drift',
  reference: 'upstream:KES',
  rail: 'upstream',
  status: 'open',
  currency: 'KES',
  amount: '1240',
  detail: '',
  owner: EVIL,
  explanation: null,
  openedAt: '2026-11-27T11:00:00.000Z',
  since: '2026-11-27T11:00:00.000Z',
  resolvedAt: null,
  resolution: null,
  resolvedBy: null,
  version: 1,
} satisfies BreakView;

/** A close that is done. */
export const close = {
  id: 'day-1',
  from: '2026-11-26T00:00:00.000Z',
  to: '2026-11-27T00:00:00.000Z',
  rail: null,
  status: 'done',
  running: false,
  payments: 3,
  done: 3,
  results: { matched: 2, differs: 1, not_at_rail: 0, unclear: 0, pending: 0 },
  late: 0,
  requestedBy: EVIL,
  requestedAt: '2026-11-27T03:00:00.000Z',
  finishedAt: '2026-11-27T03:01:00.000Z',
} satisfies CloseView;

const closeRecord = {
  reference: 'po-1',
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  endedAt: '2026-11-26T12:00:00.000Z',
  result: 'differs',
  ours: { status: 'COMPLETED', amount: '100', fee: '1' },
  theirs: { status: EVIL, amount: '90', fee: null },
  differences: [{ field: 'amount', amount: '-10' }],
  why: EVIL,
  breakId: 'po-1/amount',
  alsoCoveredBy: [],
  correctionSent: false,
  askedAt: null,
  tries: 1,
} satisfies CloseRecordView;

/** A statement that is done. */
export const statement = {
  id: 'st-1',
  rail: 'upstream',
  currency: 'KES',
  from: close.from,
  to: close.to,
  sha256: 'ab',
  status: 'done',
  stage: null,
  lines: 3,
  file: { before: 0, heading: 1, blank: 0, records: 3, continued: 0, proposal: { decimal: EVIL } },
  counts: { matched: 2, not_in_books: 1, duplicate: 0 },
  discrepancies: 1,
  breaksOpened: 1,
  breaksHidden: 0,
  uploadedBy: 'ama',
  uploadedAt: '2026-11-27T11:00:00.000Z',
  doneAt: '2026-11-27T11:01:00.000Z',
} satisfies RailStatementView;

/** A line of it that is not matched. */
export const line = {
  id: '3',
  line: 3,
  result: 'not_in_books',
  payment: null,
  differsIn: [],
  difference: '12',
  reference: null,
  railReference: EVIL,
  otherReference: EVIL,
  kind: 'payout',
  status: EVIL,
  statusWord: EVIL,
  amount: '12',
  fee: null,
  currency: 'KES',
  at: '2026-11-26T12:00:00.000Z',
  reason: EVIL,
  breakId: 'line-1/existence',
  alsoCoveredBy: [],
} satisfies RailStatementRecordView;

const audit = {
  kind: 'payout',
  askedAt: '2026-11-27T02:30:00.000Z',
  doneAt: '2026-11-27T02:30:00.900Z',
  status: 'done',
  missing: 1,
  ended: 0,
  behind: 0,
} satisfies CoverageView;

const polled = { due: 0, overdue: 0, oldestDueAt: null };

const answers: Answers = {
  'reconciler GET /status': {
    at: statement.uploadedAt,
    open: null,
    silent: null,
    polls: [
      { rail: 'upstream', configured: true, ...polled },
      { rail: 'not-compared-yet', configured: true, ...polled },
      { rail: 'removed', configured: false, ...polled },
    ],
    breaks: null,
    breakSums: [],
    comparison: null,
    coverage: null,
    close: null,
    uncompared: null,
    unreported: [],
  } satisfies StatusView,
  'reconciler GET /drift': listed(wallet),
  'reconciler GET /runs': listed(wallet, {
    ...wallet,
    id: 'rn-1',
    at: '2026-11-27T10:45:00.000Z',
    drift: '0',
  }),
  'reconciler GET /breaks': listed(found),
  'reconciler GET /closes': { items: [close], next: 'after-1' },
  'reconciler GET /closes/day-1': close,
  'reconciler GET /closes/day-1/records': { items: [closeRecord], next: 'po-1' },
  'reconciler GET /closes/day-1/export': 'reference\r\npo-1\r\n',
  'reconciler POST /closes': answered(202, close),
  'reconciler GET /statements': { items: [statement], next: 'after-2' },
  'reconciler GET /statements/st-1': statement,
  'reconciler GET /statements/st-1/records': listed(line),
  'reconciler GET /statement-mappings': listed({ name: 'daily', by: EVIL }),
  'reconciler GET /coverage': listed(audit),
  'reconciler POST /coverage': answered(202, { status: 'running' }),
  'reconciler POST /compare': listed(wallet),
};

/** Somebody who is signed in, and what the reconciler was asked. */
export async function signedIn(changed: Answers = {}, role: 'viewer' | 'operator' = 'operator') {
  const { signIn, asked } = openConsole({ ...answers, ...changed });
  const ama = await signIn('ama', role);
  const calls = (verb: string) => asked.filter(({ what }) => what.startsWith(`reconciler ${verb}`));
  const csrf = async () =>
    /name="csrf" value="([^"]+)"/.exec((await ama.get('/reconciliation')).html)?.[1] ?? '';
  const upload = async (query: string, headers: Record<string, string> = {}) => {
    const sent = { 'x-csrf-token': await csrf(), 'HX-Request': 'true', 'content-length': '8' };
    const init = { method: 'POST', body: 'a,b\r\n1,2', headers: { ...sent, ...headers } };
    return ama.send(`/reconciliation/statements/new/file?${query}`, init);
  };
  return { ama, asked, calls, upload };
}
