import { type BreakView, breakChanges, breakOperations, type ShownBreakView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, inWords, pendingOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { form } from '../view/form.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, tableOf } from '../view/table.ts';
import { age, amount, state, time, words } from '../view/values.ts';
import { type Given, only, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { bothSides, candidatesOf, difference, observations } from './break-evidence.ts';
import { subjectPath } from './breaks.ts';

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
      (visit, given) => ask(visit, given, act),
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

async function ask(visit: Visit, given: Given, act: Act): Promise<Change> {
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
  const fields = [{ name, label, value: given(name), isRequired: true, maxLength: 500 }];
  const about = html`${known}<p>${effect}</p>`;
  return { title, about, role: 'operator', fields, hidden: { version }, submit: title, back };
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
  const [both, candidates] = await Promise.all([
    part(bothSides(visit, found)),
    part(candidatesOf(visit, found)),
  ]);
  const known = facts([
    ['Status', state(status)],
    ['Kind', link(pathOf(['breaks'], { kind }), inWords(kind))],
    ['About', link(subjectPath(found), foreign(found.reference))],
    ['Rail', rail === null ? undefined : linkTo('rail', rail)],
    ['Owner', owner === null ? 'nobody yet' : link(pathOf(['breaks'], { owner }), foreign(owner))],
    ['Open since', html`${time(found.since, times)} (${age(found.since, times)})`],
    ['Explanation', found.explanation === null ? undefined : words(found.explanation, times)],
    ['Break', copyable(id)],
  ]);
  const orders = tableOf(
    'Orders to the ledger',
    found.adjustments,
    [
      ['Order', ({ commandId }) => linkTo('order', commandId)],
      ['Amount', (one) => amount(one.amount, one.currency, pathTo('order', one.commandId)), 'number'],
      ['Status', (one) => state(one.status)],
      ['Asked for by', ({ proposedBy }) => foreign(proposedBy)],
      ['At', ({ proposedAt }) => time(proposedAt, times)],
    ],
    'None yet.',
  );
  const history = tableOf(
    'The newest first',
    found.history.toReversed(),
    [
      ['At', ({ at }) => time(at, times)],
      ['What', ({ what }) => what],
      ['By', ({ by }) => (by === null ? 'the reconciler' : foreign(by))],
      ['Amount then', (one) => amount(one.amount, currency), 'number'],
      ['In their words', ({ text }) => words(text, times)],
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

/** What it waits for, or how it ended. */
function standing(visit: Visit, found: ShownBreakView): Html {
  const { times, operator, may } = visit;
  const { status, proposedResolution: proposed, resolvedBy, resolution } = found;
  const pending = pendingOf(found);
  if (status === 'resolved')
    return html`<p>${state(status)} by ${resolvedBy === null ? 'itself' : foreign(resolvedBy)}, ${time(found.resolvedAt, times)}: ${words(resolution, times)}</p>`;
  const order =
    pending &&
    html`<p>The order ${linkTo('order', pending.commandId)} of ${amount(pending.amount, pending.currency)}, asked for by ${foreign(pending.proposedBy)}, waits for another operator; once it is booked, this break is resolved.</p>`;
  const second =
    proposed &&
    html`<p>It is of so much money that another operator must approve how it is resolved. ${proposed.by === operator.name ? 'You propose' : html`${foreign(proposed.by)} proposes`}: ${words(proposed.resolution, times)}, ${time(proposed.at, times)}. ${may('approver') && proposerFor(visit, found) !== undefined ? link(pathOf(['breaks', found.id, 'resolve']), `Approve it …`) : nothing}</p>`;
  return html`${order ?? nothing}${second ?? nothing}`;
}

function actions({ operator, csrf }: Visit, found: ShownBreakView): Html {
  const { id, status, owner, version, proposedResolution, reference } = found;
  const mayResolve = proposedResolution === undefined && pendingOf(found) === undefined;
  const open: readonly Act[] = ['assign', 'notes', 'explain', ...(mayResolve ? (['resolve'] as const) : [])];
  const shown: readonly Act[] = status === 'resolved' ? ['notes', 'reopen'] : open;
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
