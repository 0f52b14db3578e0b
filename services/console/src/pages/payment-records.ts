import type { DecisionView } from '@pesewa/contracts';
import {
  describeAccount,
  inWords,
  statedAccount,
  type Timeline,
  type TimelineLine,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, pathOf, sign } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { linkTo, pathTo, pathToEntry } from '../view/links.ts';
import { type Columns, tableOf, tabs } from '../view/table.ts';
import { age, amount, state, time, words } from '../view/values.ts';
import type { Visit } from '../visits.ts';

const LINES_SHOWN = 50;

/** A payment with what people decided about it. */
export interface Known extends Timeline {
  readonly decisions: readonly DecisionView[];
}

/** What happened at all services, the newest first: fifty lines, all, or the failures. */
export function timelineOf({ times, query }: Visit, { reference, lines }: Known): Html {
  const failures = lines.filter(({ isFailure }) => isFailure);
  const shown = { newest: lines.slice(-LINES_SHOWN), all: lines, failures };
  const named = query('show');
  const show = named === 'all' || named === 'failures' ? named : 'newest';
  const views = Object.entries(shown).map(
    ([name, { length }]) =>
      [pathOf(['payments', reference], { show: name }), `${name} (${length})`, name === show] as const,
  );
  const table = tableOf(
    'The newest first, each by the clock of its service',
    shown[show].toReversed(),
    [
      ['Time', ({ at }) => time(at, times)],
      ['Service', ({ service }) => service],
      ['What', whatOf],
      ['In detail', ({ detail }) => words(detail, times)],
    ],
    'Nothing went wrong.',
  );
  return html`${tabs('Lines', views)}${table}`;
}

function pathOfLine({
  at,
  about: { kind, id },
}: TimelineLine & Required<Pick<TimelineLine, 'about'>>): string {
  return kind === 'account' ? pathToEntry(id, at) : pathTo(kind === 'webhook' ? 'delivery' : kind, id);
}

function whatOf({ about, ...line }: TimelineLine): Html {
  const named = inWords(line.what);
  const what = about ? link(pathOfLine({ ...line, about }), named) : html`${named}`;
  return line.isFailure ? html`<span class="state bad">${sign('bad')} ${what}</span>` : what;
}

const records = <Item>(title: string, items: readonly Item[], columns: Columns<Item>, empty: string): Html =>
  section(title, tableOf(`${title} of this payment`, items, columns, empty));

/** The records that services have of a payment: breaks, decisions, webhooks with their attempts, callbacks, entries. */
export function recordsOf({ times }: Visit, known: Known): readonly Html[] {
  const pathOfEntry = (name: string, at: string) => pathToEntry(statedAccount(name), at);
  const accountOf = (name: string, at: string) => link(pathOfEntry(name, at), foreign(describeAccount(name)));
  return [
    records(
      'Breaks',
      known.breaks,
      [
        ['Break', ({ id, kind }) => linkTo('break', id, inWords(kind))],
        ['State', ({ status }) => state(status)],
        ['Amount', (one) => amount(one.amount, one.currency, pathTo('break', one.id)), 'number'],
        ['In detail', ({ detail }) => words(detail, times)],
        ['For', ({ since }) => age(since, times)],
      ],
      'No two sides differ.',
    ),
    records(
      'Decisions',
      known.decisions,
      [
        ['Decision', (one) => linkTo('decision', one.id, one.outcome ?? 'what the customer paid')],
        ['State', ({ status }) => state(status)],
        ['Asked for by', ({ requestedBy }) => foreign(requestedBy)],
        ['Decided by', ({ approvedBy, rejectedBy }) => foreign(approvedBy ?? rejectedBy)],
        ['Why', ({ note }) => foreign(note)],
      ],
      'No operator has decided anything about it.',
    ),
    ...messagesOf(times, known),
    records(
      'Entries',
      known.entries.toSorted((one, other) => one.at.localeCompare(other.at)),
      [
        ['Time', ({ at }) => time(at, times)],
        ['Entry', ({ kind }) => inWords(kind)],
        ['Amount', (one) => amount(one.amount, one.currency, pathOfEntry(one.debit, one.at)), 'number'],
        ['Debit', ({ debit, at }) => accountOf(debit, at)],
        ['Credit', ({ credit, at }) => accountOf(credit, at)],
      ],
      'Nothing was moved for it.',
    ),
  ];
}

/** What was said about it: webhooks to its merchant, callbacks of its rail. */
function messagesOf(times: Visit['times'], known: Known): readonly Html[] {
  const currency = known.payment?.currency ?? null;
  const met = (one: Known['deliveries'][number]['attempts'][number]) =>
    html`<div>${time(one.at, times)}: ${foreign(String(one.status ?? one.error))}</div>`;
  return [
    records(
      'Webhooks',
      known.deliveries,
      [
        ['Webhook', ({ id, kind }) => linkTo('delivery', id, inWords(kind))],
        ['State', (one) => state(one.state)],
        ['Attempts', ({ attempts }) => attempts.map(met)],
        ['Next', ({ dueAt }) => time(dueAt, times)],
      ],
      'None yet: one is sent when the payment ends.',
    ),
    records(
      'Callbacks',
      known.callbacks,
      [
        ['Received', ({ receivedAt }) => time(String(receivedAt), times)],
        ['Claims', ({ claimedStatus }) => foreign(claimedStatus)],
        ['Amount', (one) => amount(one.claimedAmount, one.claimedCurrency ?? currency), 'number'],
        ['Signature', ({ verdict }) => inWords(verdict.signature)],
        ['State', (one) => html`${state(one.state)} ${one.failure !== null && foreign(one.failure)}`],
        ['Times', ({ deliveries }) => deliveries, 'number'],
      ],
      'None came: its rail is asked instead.',
    ),
  ];
}
