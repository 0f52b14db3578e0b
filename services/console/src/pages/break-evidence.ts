import {
  accountOperations,
  breakOperations,
  comparisonOperations,
  type ShownBreakView,
} from '@pesewa/contracts';
import { describeMovement, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { table } from '../view/table.ts';
import { amount, state, time } from '../view/values.ts';
import type { Visit } from '../visits.ts';
import { breakPath, subjectPath } from './breaks.ts';

/** The field that differs, such as `amount`; an id ends with it. */
export const fieldOf = ({ id }: Pick<ShownBreakView, 'id'>): string => inWords(id.split('/').at(-1) ?? '');

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
  const shown = await Promise.all(
    items
      .filter((one) => one.id !== id)
      .map((one) => upstream.call('reconciler', breakOperations.show, { parameters: { id: one.id } })),
  );
  const theirPath = subjectPath(found);
  const ourPath = isWallet
    ? pathOf(['ledger', 'accounts', `float:${rail ?? ''}:${currency ?? ''}`])
    : theirPath;
  const side = (text: string | null, of: ShownBreakView, path: string) => {
    if (text === null) return 'not known';
    return /^-?\d/.test(text) && of.currency !== null
      ? amount(text, of.currency, path)
      : link(path, foreign(inWords(text)));
  };
  const ours = (entries?.items ?? []).map(
    (entry) => html`<div>${link(theirPath, describeMovement(entry))}, ${time(entry.at, times)}</div>`,
  );
  const theirs = lines.map(({ statement, line, receipt }) => {
    const at = link(pathOf(['reconciliation', 'statements', statement]), `statement ${statement}`);
    return html`<div>${at}${line === null ? nothing : `, line ${line}`}${receipt === null ? nothing : html`, receipt ${foreign(receipt)}`}</div>`;
  });
  const written = ['written in', ours, theirs, nothing, nothing];
  return table({
    caption: `What we and the rail have of ${reference}`,
    columns: ['Field', 'Ours', 'Theirs', 'Compared', { title: 'Difference', isNumber: true }],
    rows: [
      ...[found, ...shown].map((one) => [
        one.id === id ? fieldOf(one) : link(breakPath(one.id), fieldOf(one)),
        side(one.ours, one, ourPath),
        side(one.theirs, one, theirPath),
        one.ours !== null && one.ours === one.theirs ? 'same now' : state('differs'),
        amount(one.amount, one.currency),
      ]),
      ...(ours.length + theirs.length > 0 ? [written] : []),
    ],
    empty: nothing,
  });
}

/** Who says that it differs. */
export function observations({ times }: Visit, { observations: said, currency }: ShownBreakView): Html {
  return table({
    caption: 'What each observer says, the first first',
    columns: ['Observer', 'Says', { title: 'Amount', isNumber: true }, 'In full', 'At'],
    rows: said.map((one) => [
      inWords(one.observer),
      inWords(one.kind),
      amount(one.amount, currency),
      foreign(one.detail),
      time(one.at, times),
    ]),
    empty: 'Nobody says so any more.',
  });
}

/** The payments that may explain a wallet's difference, and where to read on. */
export async function candidatesOf({ upstream }: Visit, found: ShownBreakView): Promise<Html> {
  const { id, reference } = found;
  if (!id.endsWith('/balance'))
    return html`<p>${link(subjectPath(found), 'Its timeline')} · ${link(pathOf(['breaks'], { reference, status: 'any' }), 'All its breaks')}</p>`;
  const { items } = await upstream.call('reconciler', comparisonOperations.drift, {});
  const run = items.find((one) => `${one.rail}:${one.currency}` === reference);
  const rows = (run?.candidates ?? []).map((one) => [
    link(pathOf(['payments', one.reference]), one.reference),
    foreign(one.why),
  ]);
  const empty =
    'No payment explains it: look for what was booked, or moved at the rail, without the other side.';
  return html`${table({ caption: 'Payments that may be in the difference', columns: ['Payment', 'Why'], rows, empty })}
<p>${link(subjectPath(found), 'How the wallet was compared over time')}</p>`;
}
