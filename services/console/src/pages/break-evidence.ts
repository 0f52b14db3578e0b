import {
  accountOperations,
  breakOperations,
  comparisonOperations,
  type ShownBreakView,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { describeMovement, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { amount, state, type TimeView, time, words } from '../view/values.ts';
import type { Visit } from '../visits.ts';
import { subjectPath } from './breaks.ts';

/** The field that differs, such as `amount`; an id ends with it. */
const fieldOf = ({ id }: Pick<ShownBreakView, 'id'>): string => inWords(id.split('/').at(-1) ?? '');

const isSameNow = ({ ours, theirs }: ShownBreakView): boolean => ours !== null && ours === theirs;

/** The difference in one line; if both sides are the same by now, what the break still waits for. */
export function difference(found: ShownBreakView, times: TimeView): Html {
  const { amount: sum, currency, rail, detail, reference, status, observations: said } = found;
  const subject = html`The ${fieldOf(found)} of ${link(subjectPath(found), foreign(reference))}`;
  const where = rail === null ? nothing : ` at ${rail}`;
  if (status !== 'resolved' && isSameNow(found)) {
    const still = said.map(
      ({ observer, at }) =>
        html` The observer “${inWords(observer)}” said at ${time(at, times)} that it differs: the break waits for what it finds next.`,
    );
    return html`${subject}${where} is the same on both sides now.${said.length === 0 ? ' Nobody says any more that it differs: the break closes with the next observation.' : still} If it stays open, resolve it.`;
  }
  const by =
    sum === null ? nothing : html` by <strong>${displayAmount(sum, currency ?? '', 'exceptZero')}</strong>`;
  return html`${subject} ${status === 'resolved' ? 'differed' : 'differs'}${by}${where}: ${words(detail, times)}`;
}

/** What we and the rail have of the fields of a payment or a wallet that differ, and where each is written. */
export async function bothSides({ upstream, times }: Visit, found: ShownBreakView): Promise<Html> {
  const { id, reference, lines, rail, currency } = found;
  const isWallet = id.endsWith('/balance');
  const [{ items }, entries] = await Promise.all([
    upstream.call('reconciler', breakOperations.list, {
      query: { reference, status: 'unresolved', limit: 5 },
    }),
    isWallet ? undefined : upstream.call('ledger', accountOperations.entries, { query: { reference } }),
  ]);
  const others = items
    .filter((one) => one.id !== id)
    .map((one) => upstream.call('reconciler', breakOperations.show, { parameters: { id: one.id } }));
  const theirPath = subjectPath(found);
  const ourPath = isWallet ? pathTo('account', `float:${rail ?? ''}:${currency ?? ''}`) : theirPath;
  const side = (text: string | null, of: ShownBreakView, path: string) => {
    if (text === null) return 'not known';
    return /^-?\d/.test(text) && of.currency !== null
      ? amount(text, of.currency, path)
      : link(path, foreign(inWords(text)));
  };
  const sides = tableOf(
    `What we and the rail have of ${reference}`,
    [found, ...(await Promise.all(others))],
    [
      ['Field', (one) => (one.id === id ? fieldOf(one) : linkTo('break', one.id, fieldOf(one)))],
      ['Ours', (one) => side(one.ours, one, ourPath)],
      ['Theirs', (one) => side(one.theirs, one, theirPath)],
      ['Compared', (one) => (isSameNow(one) ? 'same now' : state('differs'))],
      ['Difference', (one) => amount(isSameNow(one) ? null : one.amount, one.currency), 'number'],
    ],
    nothing,
  );
  const ours = (entries?.items ?? []).map(
    (entry) => html`<div>${link(theirPath, describeMovement(entry))}, ${time(entry.at, times)}</div>`,
  );
  const theirs = lines.map(
    ({ statement, line, receipt }) =>
      html`<div>${linkTo('statement', statement, `statement ${statement}`)}${line === null ? nothing : `, line ${line}`}${receipt === null ? nothing : html`, receipt ${foreign(receipt)}`}</div>`,
  );
  return html`${sides}${facts([
    ['Ours is written in', ours.length > 0 ? ours : undefined],
    ['Theirs is written in', theirs.length > 0 ? theirs : undefined],
  ])}`;
}

/** Who says that it differs. */
export function observations({ times }: Visit, { observations: said, currency }: ShownBreakView): Html {
  return tableOf(
    'What each observer says, the first first',
    said,
    [
      ['Observer', ({ observer }) => inWords(observer)],
      ['Says', ({ kind }) => inWords(kind)],
      ['Amount', (one) => amount(one.amount, currency), 'number'],
      ['In full', ({ detail }) => words(detail, times)],
      ['At', ({ at }) => time(at, times)],
    ],
    'Nobody says so any more.',
  );
}

/** The payments that may explain a wallet's difference, and where to read on. */
export async function candidatesOf({ upstream, times }: Visit, found: ShownBreakView): Promise<Html> {
  const { id, reference } = found;
  const subject = subjectPath(found);
  if (!id.endsWith('/balance'))
    return html`<p>${link(subject, 'Its timeline')} · ${link(pathOf(['breaks'], { reference, status: 'any' }), 'All its breaks')}</p>`;
  const { items } = await upstream.call('reconciler', comparisonOperations.drift, {});
  const run = items.find((one) => `${one.rail}:${one.currency}` === reference);
  return html`${tableOf(
    'Payments that may be in the difference',
    run?.candidates ?? [],
    [
      ['Payment', ({ reference: payment }) => linkTo('payment', payment)],
      ['Why', ({ why }) => words(why, times)],
    ],
    'No payment explains it: look for what was booked, or moved at the rail, without the other side.',
  )}<p>${link(subject, 'How the wallet was compared over time')}</p>`;
}
