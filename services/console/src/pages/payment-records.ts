import {
  describeAccount,
  inWords,
  statedAccount,
  type Timeline,
  type TimelineLine,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Content, foreign, type Html, link, pathOf, sign } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { type Column, table } from '../view/table.ts';
import { age, amount, state, time } from '../view/values.ts';
import type { Visit } from '../visits.ts';

const LINES_SHOWN = 50;
const AMOUNT: Column = { title: 'Amount', isNumber: true };
const pages = {
  account: ['ledger', 'accounts'],
  break: ['breaks'],
  webhook: ['webhooks', 'deliveries'],
} as const;
/** The page of what a line of a timeline is about. */
const pageOf = (kind: keyof typeof pages, id: string) => pathOf([...pages[kind], id]);

/** What happened at all services, the newest first: fifty lines, all, or the failures. */
export function timelineOf({ times, query }: Visit, { reference, lines }: Timeline): Html {
  const failures = lines.filter(({ isFailure }) => isFailure);
  const shown = { newest: lines.slice(-LINES_SHOWN), all: lines, failures };
  const named = query('show');
  const show = named === 'all' || named === 'failures' ? named : 'newest';
  const tabs = Object.entries(shown).map(([name, { length }]) =>
    name === show
      ? html`<strong aria-current="true">${name} (${length})</strong> `
      : html`${link(pathOf(['payments', reference], { show: name }), `${name} (${length})`)} `,
  );
  const rows = shown[show]
    .toReversed()
    .map((line) => [time(line.at, times), line.service, whatOf(line), foreign(line.detail)]);
  const caption = 'The newest first, each by the clock of its service';
  const columns = ['Time', 'Service', 'What', 'In detail'];
  return html`<p class="tabs">${tabs}</p>${table({ caption, columns, rows, empty: 'Nothing went wrong.' })}`;
}

function whatOf({ what, isFailure, about }: TimelineLine): Html {
  const words = about ? link(pageOf(about.kind, about.id), inWords(what)) : html`${inWords(what)}`;
  return isFailure ? html`<span class="state bad">${sign('bad')} ${words}</span>` : words;
}

/** The records that services have of a payment: breaks, webhooks with their attempts, callbacks, entries. */
export function recordsOf({ times }: Visit, known: Timeline): readonly Html[] {
  const records = (
    title: string,
    columns: readonly Column[],
    rows: readonly (readonly Content[])[],
    empty: string,
  ) => section(title, table({ caption: `${title} of this payment`, columns, rows, empty }));
  const breaks = known.breaks.map(({ id, kind, status, amount: sum, currency, detail, since }) => [
    link(pageOf('break', id), inWords(kind)),
    state(status),
    amount(sum, currency, pageOf('break', id)),
    foreign(detail),
    age(since, times),
  ]);
  const webhooks = known.deliveries.map(({ id, kind, state: at, attempts, dueAt }) => [
    link(pageOf('webhook', id), inWords(kind)),
    state(at),
    attempts.map(
      (one) => html`<div>${time(one.at, times)}: ${foreign(String(one.status ?? one.error))}</div>`,
    ),
    time(dueAt, times),
  ]);
  const callbacks = known.callbacks.map((one) => [
    time(String(one.receivedAt), times),
    foreign(one.claimedStatus),
    amount(one.claimedAmount, one.claimedCurrency),
    inWords(one.verdict.signature),
    html`${state(one.state)} ${one.failure !== null && foreign(one.failure)}`,
    one.deliveries,
  ]);
  const account = (name: string) =>
    link(pageOf('account', statedAccount(name)), foreign(describeAccount(name)));
  const entries = known.entries.map(({ at, kind, amount: sum, currency, debit, credit }) => [
    time(at, times),
    inWords(kind),
    amount(sum, currency, pageOf('account', statedAccount(debit))),
    account(debit),
    account(credit),
  ]);
  return [
    records('Breaks', ['Break', 'State', AMOUNT, 'In detail', 'For'], breaks, 'No two sides differ.'),
    records('Webhooks', ['Webhook', 'State', 'Attempts', 'Next'], webhooks, 'None yet: its end is told.'),
    records(
      'Callbacks',
      ['Received', 'Claims', AMOUNT, 'Signature', 'State', 'Times'],
      callbacks,
      'None came: its rail is asked instead.',
    ),
    records('Entries', ['Time', 'Entry', AMOUNT, 'Debit', 'Credit'], entries, 'Nothing was moved for it.'),
  ];
}
