import {
  accountOperations,
  type BreakView,
  breakChanges,
  breakOperations,
  comparisonOperations,
  type ShownBreakView,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import {
  breakToDecide,
  describeMovement,
  describeOrder,
  inWords,
  ordersFor,
  pendingOf,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { form } from '../view/form.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { age, amount, state, type TimeView, time, words } from '../view/values.ts';
import { only, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { subjectPath } from './breaks.ts';
import { candidateColumns } from './wallet.ts';

/** What people do with a break by one text: how it is asked for, and what comes of it. */
const acts = {
  assign: ['operator', 'To which operator', 'Assign', 'It stays open.'],
  notes: ['text', 'What is known', 'Note', 'Nothing else changes.'],
  explain: [
    'explanation',
    'Why it differs',
    'Explain',
    'It stays until its cause is gone, or somebody resolves it.',
  ],
  resolve: [
    'resolution',
    'What became of it',
    'Resolve',
    'No money moves. If the difference is found again, it opens again. If it is of much money, another operator must approve that.',
  ],
  reject: [
    'reason',
    'Why not',
    'Reject the proposed resolution',
    'The break stays open, and can be resolved anew.',
  ],
  reopen: ['reason', 'Why it is open after all', 'Reopen', 'It waits for people again.'],
} as const;
type Act = keyof typeof acts;

/** Adds the page of a break, and those on which people change it. */
export function addBreakPage(routes: Routes): void {
  routes.page('/breaks/:id', async (visit) => showBreak(visit, await findBreak(visit)));
  for (const act of Object.keys(acts) as Act[])
    addChange(
      routes,
      `/breaks/:id/${act}`,
      (visit) => ask(visit, act),
      (submission) => change(submission, act),
    );
}

/** The break of a page. */
export const findBreak = ({ upstream, part: named }: Visit): Promise<ShownBreakView> =>
  upstream.call('reconciler', breakOperations.show, { parameters: { id: named('id') } });

/** A break in a few words, with its money. */
export function nameOf({ kind, amount: sum, currency, reference }: BreakView): string {
  const money = sum === null ? '' : ` of ${displayAmount(sum, currency ?? '', 'exceptZero')}`;
  return `${inWords(kind)}${money} (${reference})`;
}

async function ask(visit: Visit, act: Act): Promise<Change> {
  const found = await findBreak(visit);
  const version = String(found.version);
  const [name, label, does, effect] = acts[act];
  const known = html`<p>${difference(found, visit.times)}</p>${standing(visit, found)}`;
  const back = [pathTo('break', found.id), 'Back to the break'] as const;
  const approves = act === 'resolve' ? proposerFor(visit, found) : undefined;
  if (approves !== undefined) {
    const submit = `Resolve it as ${approves} proposes: ${nameOf(found)}`;
    return { title: submit, about: known, role: 'approver', hidden: { approves, version }, submit, back };
  }
  const title = `${does}: ${nameOf(found)}`;
  const fields = [{ name, label, isRequired: true, maxLength: 500 }];
  const about = html`${known}<p>${effect}</p>`;
  return { title, about, fields, hidden: { version }, submit: title, back };
}

async function change({ upstream, field, part: named }: Submission, act: Act): Promise<string> {
  const id = named('id');
  const [name] = acts[act];
  const approves = field('approves');
  const said = approves === undefined ? { [name]: field(name) ?? '' } : { approves };
  const body = { ...said, version: Number(field('version')) } as never;
  await upstream.call('reconciler', breakChanges[act], { parameters: { id }, body });
  return pathTo('break', id);
}

/** Who proposes to resolve a break, if the one who looks may approve that by their name. */
const proposerFor = ({ operator }: Visit, { proposedResolution: proposed }: ShownBreakView) =>
  proposed?.by === operator.name ? undefined : proposed?.by;

async function showBreak(visit: Visit, found: ShownBreakView): Promise<Page> {
  const { times } = visit;
  const { id, kind, rail, owner, status, currency } = found;
  const [both, candidates, orders] = await Promise.all(
    [bothSides, candidatesOf, ordersOf].map((read) => part(read(visit, found))),
  );
  const known = facts([
    ['Status', state(status)],
    ['Kind', link(pathOf(['breaks'], { kind }), inWords(kind))],
    ['About', link(subjectPath(found), foreign(found.reference))],
    ['Rail', linkTo('rail', rail)],
    ['Owner', owner === null ? 'nobody yet' : link(pathOf(['breaks'], { owner }), foreign(owner))],
    found.resolvedAt === null
      ? ['Open since', html`${time(found.since, times)} (${age(found.since, times)})`]
      : ['Was open', html`${time(found.since, times)} to ${time(found.resolvedAt, times)}`],
    ['Explanation', words(found.explanation, times)],
    ['Break', copyable(id)],
  ]);
  const history = tableOf(
    'The newest first',
    found.history.toReversed(),
    [
      ['At', ({ at }) => time(at, times)],
      ['What', ({ what }) => what],
      ['By', ({ by }) => (by === null ? 'the reconciler' : foreign(by))],
      ['Amount then', (one) => amount(one.amount, currency), 'number'],
      ['In their words', ({ by, text }) => words(by === null ? inPlainWords(text) : text, times)],
    ],
    nothing,
  );
  const body = html`<p class="${status === 'resolved' ? 'done' : 'problem'}">${difference(found, times)}</p>
${standing(visit, found)}${only(visit, 'operator', () => actions(visit, found))}
${section('Both sides', both)}${section('Facts', known)}
${section('Who says so', observations(visit, found))}${section('What may explain it', candidates)}
${section('Orders that correct it', orders)}${section('History', history)}`;
  return { title: `${nameOf(found)}: ${status}`, body };
}

/** A text of the reconciler itself, with the codes of breaks and events in words. */
const inPlainWords = (text: string | null | undefined) =>
  text?.replaceAll(/^[a-z]+\.[a-z_]+(?=: )|\b(?:Payout|Collection)[A-Z]\w+/g, inWords);

/** What it waits for, or how it ended. */
function standing(visit: Visit, found: ShownBreakView): Html {
  const { times, operator, may } = visit;
  const { status, proposedResolution: proposed, resolvedBy, resolution } = found;
  if (status === 'resolved')
    return html`<p>${state(status)} by ${resolvedBy === null ? 'itself' : foreign(resolvedBy)}, ${time(found.resolvedAt, times)}: ${words(resolvedBy === null ? inPlainWords(resolution) : resolution, times)}</p>`;
  if (!proposed) return nothing;
  return html`<p>It is of so much money that another operator must approve how it is resolved. ${proposed.by === operator.name ? 'You propose' : html`${foreign(proposed.by)} proposes`}: ${words(proposed.resolution, times)}, ${time(proposed.at, times)}. ${may('approver') && proposerFor(visit, found) !== undefined ? html`${link(pathOf(['breaks', found.id, 'resolve']), 'Approve it …')} ` : nothing}${may('operator') ? link(pathOf(['breaks', found.id, 'reject']), 'Reject it …') : nothing}</p>`;
}

function actions({ operator, csrf }: Visit, found: ShownBreakView): Html {
  const { id, status, owner, version, proposedResolution, reference } = found;
  const open: readonly Act[] = ['assign', 'notes', 'explain'];
  const unresolved: readonly Act[] = proposedResolution ? open : [...open, 'resolve'];
  const shown: readonly Act[] = status === 'resolved' ? ['notes', 'reopen'] : unresolved;
  const mine = form({
    csrf,
    action: pathOf(['breaks', id, 'assign']),
    hidden: { operator: operator.name, version: String(version) },
    submit: 'Assign it to me',
  });
  const kind = reference.startsWith('co-') ? 'collection' : 'payout';
  const decide =
    breakToDecide(kind, [found]) &&
    link(pathOf(['payments', reference, 'decide']), `Decide about the ${kind} …`);
  return html`<div class="actions">${status === 'resolved' || owner === operator.name ? nothing : mine}${status === 'resolved' ? nothing : link(pathOf(['breaks', id, 'adjust']), 'Correct our books …')}${decide ?? nothing}${shown.map((act) => link(pathOf(['breaks', id, act]), `${acts[act][2]} …`))}</div>`;
}

/** The field that differs, such as `amount`; an id ends with it. */
const fieldOf = ({ id }: Pick<ShownBreakView, 'id'>): string => inWords(id.split('/').at(-1) ?? '');

/** Whether a statement lacks a line of the payment: what the rail says of it otherwise does not make up for that. */
const lacksLine = ({ observations }: ShownBreakView): boolean =>
  observations.some(({ kind }) => kind === 'statement.not_on_statement');

const isSameNow = (found: ShownBreakView): boolean =>
  found.ours !== null && found.ours === found.theirs && !lacksLine(found);

/** The difference in one line; if both sides are the same by now, what the break still waits for. */
function difference(found: ShownBreakView, times: TimeView): Html {
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
async function bothSides({ upstream, times }: Visit, found: ShownBreakView): Promise<Html> {
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
      ['Theirs', (one) => (lacksLine(one) ? 'no line' : side(one.theirs, one, theirPath))],
      ['Compared', (one) => (isSameNow(one) ? 'same now' : state('differs'))],
      ['Difference', (one) => amount(isSameNow(one) ? null : one.amount, one.currency), 'number'],
    ],
    nothing,
  );
  const ours = (entries?.items ?? []).map(
    (entry) => html`<div>${link(theirPath, describeMovement(entry))}, ${time(entry.at, times)}</div>`,
  );
  const theirs = lines.map(
    ({ statement, line, receipt, reference: named, statusWord }) =>
      html`<div>${linkTo('statement', statement, `statement ${statement}`)}${line === null ? nothing : `, line ${line}`}${receipt === null ? nothing : html`, receipt ${foreign(receipt)}`}${named && html`, reference ${foreign(named)}`}${statusWord && html`, “${foreign(statusWord)}”`}</div>`,
  );
  return html`${sides}${facts([
    ['Ours is written in', ours.length > 0 ? ours : undefined],
    ['Theirs is written in', theirs.length > 0 ? theirs : undefined],
  ])}`;
}

/** Who says that it differs. */
function observations({ times }: Visit, { observations: said, currency }: ShownBreakView): Html {
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

/** The orders to the ledger for it, the newest first, and the one that waits. */
async function ordersOf({ upstream, times }: Visit, found: ShownBreakView): Promise<Html> {
  const orders = await ordersFor(upstream, found);
  const pending = pendingOf(found, orders, times.nowMs);
  return html`${pending && html`<p>An order ${pending.status === 'proposed' ? 'waits for another operator' : 'is approved'}; once it is booked, this break is resolved.</p>`}${tableOf(
    'Orders to the ledger',
    orders,
    [
      ['Order', (one) => linkTo('order', one.commandId, describeOrder(one))],
      ['Status', (one) => state(one.status)],
      ['Asked for by', ({ requestedBy }) => foreign(requestedBy)],
    ],
    'None yet.',
  )}`;
}

/** The payments that may explain a wallet's difference, and where to read on. */
async function candidatesOf({ upstream, times }: Visit, found: ShownBreakView): Promise<Html> {
  const { id, reference } = found;
  const subject = subjectPath(found);
  if (!id.endsWith('/balance'))
    return html`<p>${subject.startsWith('/payments/') && html`${link(subject, 'Its timeline')} · `}${link(pathOf(['breaks'], { reference, status: 'any' }), 'All its breaks')}</p>`;
  const { items } = await upstream.call('reconciler', comparisonOperations.drift, {});
  const run = items.find((one) => `${one.rail}:${one.currency}` === reference);
  return html`${tableOf(
    'Payments that may be in the difference',
    run?.candidates ?? [],
    candidateColumns(times),
    'No payment explains it: look for what was booked, or moved at the rail, without the other side.',
  )}<p>${link(subject, 'How the wallet was compared over time')}</p>`;
}
