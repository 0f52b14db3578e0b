import { breakChanges, breakOperations, type ShownBreakView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, inWords, pendingOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form } from '../view/form.ts';
import { copyable, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, table } from '../view/table.ts';
import { age, amount, state, time } from '../view/values.ts';
import { addChange, only, part, type Routes, type Visit } from '../visits.ts';
import { bothSides, candidatesOf, fieldOf, observations } from './break-evidence.ts';
import { breakPath, subjectPath } from './breaks.ts';

/** What people do with a break by one text: how it is asked for, and what comes of it. */
const acts = {
  assign: { name: 'operator', label: 'To which operator', does: 'Assign', effect: 'It stays open.' },
  notes: { name: 'text', label: 'What is known', does: 'Note', effect: 'Nothing else changes.' },
  explain: {
    name: 'explanation',
    label: 'Why it differs',
    does: 'Explain',
    effect: 'It stays until its cause is gone, or somebody resolves it.',
  },
  resolve: {
    name: 'resolution',
    label: 'What became of it',
    does: 'Resolve',
    effect:
      'No money moves. If the difference is found again, it opens again. If it is of much money, another operator must resolve it too.',
  },
  reopen: {
    name: 'reason',
    label: 'Why it is open after all',
    does: 'Reopen',
    effect: 'It waits for people again.',
  },
} as const;
type Act = keyof typeof acts;
const resolvedActs: readonly Act[] = ['notes', 'reopen'];
const openActs: readonly Act[] = ['assign', 'notes', 'explain', 'resolve'];

/** Adds the page of a break, and those on which people change it. */
export function addBreakPage(routes: Routes): void {
  routes.page('/breaks/:id', async (visit) => showBreak(visit, await findBreak(visit)));
  for (const act of Object.keys(acts) as Act[])
    addChange(
      routes,
      `/breaks/:id/${act}`,
      (visit, given, problem) => showAct(visit, act, { problem, value: given(acts[act].name) }),
      async ({ upstream, field, part: named }) => {
        const id = named('id');
        const { name } = acts[act];
        const body = { [name]: field(name) ?? '', version: Number(field('version')) };
        await upstream.call('reconciler', breakChanges[act], { parameters: { id }, body: body as never });
        return breakPath(id);
      },
    );
}

/** The break of a page. */
export const findBreak = ({ upstream, part: named }: Visit): Promise<ShownBreakView> =>
  upstream.call('reconciler', breakOperations.show, { parameters: { id: named('id') } });

/** A break in a few words, with its money. */
export function nameOf({ kind, amount: sum, currency, reference }: ShownBreakView): string {
  const money = sum === null ? '' : ` of ${displayAmount(sum, currency ?? '', 'exceptZero')}`;
  return `${inWords(kind)}${money} (${reference})`;
}

async function showAct(
  visit: Visit,
  act: Act,
  { problem, value }: { readonly problem: string | undefined; readonly value: string | undefined },
): Promise<Page> {
  const found = await findBreak(visit);
  const { name, label, does, effect } = acts[act];
  const shown = form({
    csrf: visit.csrf,
    action: pathOf(['breaks', found.id, act]),
    fields: [{ name, label, value, isRequired: true, maxLength: 500 }],
    hidden: { version: String(found.version) },
    submit: `${does}: ${nameOf(found)}`,
    problem,
  });
  const body = html`<p>${difference(found)}</p><p>${effect}</p>${only(visit, 'operator', () => shown)}<p>${link(breakPath(found.id), 'Back to the break')}: ${state(found.status)}${found.resolvedBy === null ? nothing : html` by ${foreign(found.resolvedBy)}, ${time(found.resolvedAt, visit.times)}`}</p>`;
  return { title: `${does}: ${nameOf(found)}`, body };
}

async function showBreak(visit: Visit, found: ShownBreakView): Promise<Page> {
  const { times } = visit;
  const { id, kind, rail, owner, status } = found;
  const [both, candidates] = await Promise.all([
    part(bothSides(visit, found)),
    part(candidatesOf(visit, found)),
  ]);
  const text = (name: string, value: string | null) =>
    [name, value === null ? undefined : foreign(value)] as const;
  const known = facts([
    ['Status', state(status)],
    ['Kind', link(pathOf(['breaks'], { kind }), inWords(kind))],
    ['About', link(subjectPath(found), foreign(found.reference))],
    ['Rail', rail === null ? undefined : link(pathOf(['rails', rail]), rail)],
    ['Owner', owner === null ? 'nobody yet' : link(pathOf(['breaks'], { owner }), foreign(owner))],
    ['Open since', html`${time(found.since, times)} (${age(found.since, times)})`],
    text('Explanation', found.explanation),
    ['Break', copyable(id)],
  ]);
  const body = html`<p class="${status === 'resolved' ? 'done' : 'problem'}">${difference(found)}</p>
${stateOf(visit, found)}${only(visit, 'operator', () => actions(visit, found))}
${section('Both sides', both)}${section('Facts', known)}
${section('Who says so', observations(visit, found))}${section('What may explain it', candidates)}
${section('Orders that correct it', adjustments(visit, found))}${section('History', history(visit, found))}`;
  return { title: `${nameOf(found)}: ${status}`, body };
}

/** The difference in one line. */
function difference(found: ShownBreakView): Html {
  const { amount: sum, currency, rail, detail, reference, status } = found;
  const by =
    sum === null ? nothing : html` by <strong>${displayAmount(sum, currency ?? '', 'exceptZero')}</strong>`;
  return html`The ${fieldOf(found)} of ${link(subjectPath(found), foreign(reference))} ${status === 'resolved' ? 'differed' : 'differs'}${by}${rail === null ? nothing : ` at ${rail}`}: ${foreign(detail)}`;
}

/** What it waits for, or how it ended. */
function stateOf({ operator, times }: Visit, found: ShownBreakView): Html {
  const { resolutionProposedBy: by, resolvedBy, resolution } = found;
  const pending = pendingOf(found);
  const order = pending && link(pathOf(['approvals', 'orders', pending.commandId]), pending.commandId);
  const who = by === operator.name ? 'you' : foreign(by);
  return html`${found.status === 'resolved' ? html`<p>Resolved ${time(found.resolvedAt, times)} by ${resolvedBy === null ? 'itself' : foreign(resolvedBy)}: ${foreign(resolution)}</p>` : nothing}
${pending ? html`<p>The order ${order} of ${amount(pending.amount, pending.currency)}, asked for by ${foreign(pending.proposedBy)}, waits for another operator; once it is booked, this break is resolved.</p>` : nothing}
${by === null ? nothing : html`<p>It is of so much money that two operators resolve it: ${who} would, and another must too.</p>`}`;
}

function actions({ operator, csrf }: Visit, found: ShownBreakView): Html {
  const { id, status, owner, version, resolutionProposedBy, floatChange } = found;
  const shown = (status === 'resolved' ? resolvedActs : openActs).filter(
    (act) => act !== 'resolve' || (resolutionProposedBy !== operator.name && pendingOf(found) === undefined),
  );
  const mine =
    status === 'resolved' || owner === operator.name
      ? nothing
      : form({
          csrf,
          action: pathOf(['breaks', id, 'assign']),
          hidden: { operator: operator.name, version: String(version) },
          submit: 'Assign it to me',
        });
  const adjust = link(
    pathOf(['breaks', id, 'adjust'], { amount: floatChange?.replace(/^(?=\d)/, '+') }),
    'Correct our books …',
  );
  const kind = found.reference.startsWith('co-') ? 'collection' : 'payout';
  const decide = breakToDecide(kind, [found])
    ? link(pathOf(['payments', found.reference, 'decide']), `Decide about the ${kind} …`)
    : nothing;
  return html`<div class="actions">${mine}${status === 'resolved' ? nothing : adjust}${decide}${shown.map((act) => link(pathOf(['breaks', id, act]), `${acts[act].does} …`))}</div>`;
}

function adjustments({ times }: Visit, found: ShownBreakView): Html {
  return table({
    caption: 'Orders to the ledger',
    columns: ['Order', { title: 'Amount', isNumber: true }, 'Status', 'Asked for by', 'At'],
    rows: found.adjustments.map(({ commandId, amount: sum, currency, status, proposedBy, proposedAt }) => {
      const path = pathOf(['approvals', 'orders', commandId]);
      return [
        link(path, commandId),
        amount(sum, currency, path),
        state(status),
        foreign(proposedBy),
        time(proposedAt, times),
      ];
    }),
    empty: 'None yet.',
  });
}

function history({ times }: Visit, { history: lines, currency }: ShownBreakView): Html {
  return table({
    caption: 'The newest first',
    columns: ['At', 'What', 'By', { title: 'Amount then', isNumber: true }, 'In their words'],
    rows: lines
      .toReversed()
      .map((one) => [
        time(one.at, times),
        one.what,
        one.by === null ? 'the reconciler' : foreign(one.by),
        amount(one.amount, currency),
        foreign(one.text),
      ]),
    empty: nothing,
  });
}
