import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form } from '../view/form.ts';
import { attributes, type Content, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, pager, table } from '../view/table.ts';
import { age, state, time } from '../view/values.ts';
import { doOrShowAgain, only, part, type Routes, type Visit } from '../visits.ts';
import { listOthers } from './approvals-others.ts';
import { type KindName, type Proposal, type ProposalKind, proposalKinds } from './proposals.ts';

const names = Object.keys(proposalKinds) as KindName[];
const tabs = { me: 'For me', mine: 'Mine', decided: 'Decided' } as const;
type Tab = keyof typeof tabs;

/** Adds the inbox of what waits for a second operator, and a page for each proposal. */
export function addApprovalPages(routes: Routes): void {
  routes.page('/approvals', showInbox);
  for (const name of names) {
    const kind = proposalKinds[name];
    const path = `/approvals/${name}/:id`;
    routes.page(path, (visit) => showProposal(visit, name));
    for (const act of ['approve', 'reject'] as const)
      routes.form(`${path}/${act}`, (submission) => {
        const id = submission.part('id');
        const reason = submission.field('reason');
        return doOrShowAgain(
          async () => {
            await (act === 'approve'
              ? kind.approve(submission, id)
              : kind.reject(submission, id, reason ?? ''));
            return pathOf(['approvals', name, id]);
          },
          (problem) => showProposal(submission, name, { problem, reason }),
        );
      });
  }
}

async function showInbox(visit: Visit): Promise<Page> {
  const { query } = visit;
  const of = [...names, 'others' as const].find((one) => one === query('of')) ?? 'orders';
  const tab = (Object.keys(tabs) as Tab[]).find((one) => one === query('tab')) ?? 'me';
  const entry = (path: string, text: string, isHere: boolean) =>
    html`<a href="${path}"${attributes({ 'aria-current': isHere ? 'page' : undefined })}>${text}</a>`;
  const kinds = [...names, 'others' as const].map((one) =>
    entry(
      pathOf(['approvals'], { of: one }),
      one === 'others' ? 'Others' : proposalKinds[one].title,
      one === of,
    ),
  );
  const whose = Object.entries(tabs).map(([one, title]) =>
    entry(pathOf(['approvals'], { of, tab: one }), title, one === tab),
  );
  const found = of === 'others' ? listOthers(visit) : listProposals(visit, of, tab);
  const body = html`<nav class="tabs" aria-label="Kinds">${kinds}</nav>
${of === 'others' ? nothing : html`<nav class="tabs" aria-label="Whose">${whose}</nav>`}${await part(found)}`;
  return { title: 'Approvals', body };
}

async function listProposals(visit: Visit, name: KindName, tab: Tab): Promise<Html> {
  const { query, operator, times } = visit;
  const { list, noun, title } = proposalKinds[name];
  const cursor = query('cursor');
  const { items, next } = await list(visit, { cursor, ...(tab !== 'decided' && { status: 'proposed' }) });
  const shown = items.filter(({ status, requestedBy }) =>
    tab === 'decided' ? status !== 'proposed' : (requestedBy === operator.name) === (tab === 'mine'),
  );
  const empty: Record<Tab, Content> = {
    me: `No ${noun} of another operator waits for you.`,
    mine: `No ${noun} that you asked for waits.`,
    decided: `No ${noun} was decided yet.`,
  };
  const rows = shown.map((one) => {
    const path = pathOf(['approvals', name, one.id]);
    return [
      link(path, foreign(one.what)),
      foreign(one.requestedBy),
      age(one.requestedAt, times),
      foreign(one.why),
      state(one.status),
      foreign(one.approvedBy ?? one.rejectedBy),
    ];
  });
  const pages = pager({
    next,
    isFirst: cursor === undefined,
    pathAfter: (after) => pathOf(['approvals'], { of: name, tab, cursor: after }),
  });
  const columns = ['What', 'Asked for by', 'Age', 'Why', 'State', 'Decided by'];
  const more = next === null ? empty[tab] : html`None on this page: there are older ones.`;
  return html`${table({ caption: `${title}, the newest first`, columns, rows, empty: more })}${pages}`;
}

interface Tried {
  readonly problem?: string;
  readonly reason?: string | undefined;
}

async function showProposal(visit: Visit, name: KindName, tried: Tried = {}): Promise<Page> {
  const kind = proposalKinds[name];
  const found = await kind.show(visit, visit.part('id'));
  const { times } = visit;
  const { status, requestedBy, approvedBy, rejectedBy, rejectedFor, appliedAt, refusedFor } = found;
  const by = (who: string | undefined, at: string | undefined, why?: string) =>
    who === undefined
      ? undefined
      : html`${foreign(who)}, ${time(at, times)}${why === undefined ? nothing : html`: ${foreign(why)}`}`;
  const known = facts([
    ['Status', state(status)],
    ['Asked for by', by(requestedBy, found.requestedAt)],
    ['Why', foreign(found.why)],
    ['Approved by', by(approvedBy, found.approvedAt ?? appliedAt)],
    ['Rejected by', by(rejectedBy, found.rejectedAt, rejectedFor)],
    ['Applied', appliedAt === undefined ? undefined : time(appliedAt, times)],
    ['Refused for', refusedFor === undefined ? undefined : foreign(inWords(refusedFor))],
    ['Can be approved until', status === 'proposed' ? time(found.expiresAt, times) : undefined],
    ['Why two people', `${kind.rule.charAt(0).toUpperCase()}${kind.rule.slice(1)}`],
  ]);
  const body = html`<p>${foreign(found.what)}</p>${problemOf(tried.problem, found)}${deciding(visit, { name, kind, found, tried })}
${section('What it changes', await part(Promise.resolve(found.changes(visit))))}${section('Who and why', known)}
<p>${link(pathOf(['approvals'], { of: name }), 'Back to the inbox')}</p>`;
  const title = `${kind.noun.replace(/^./, (letter) => letter.toUpperCase())}: ${inWords(status)}`;
  return { title, body, ...(status === 'approved' && { everySeconds: 2 }) };
}

/** Why a decision was not taken, with who decided before. */
function problemOf(problem: string | undefined, { status, approvedBy, rejectedBy }: Proposal): Html {
  if (problem === undefined) return nothing;
  const decided = approvedBy ?? rejectedBy;
  const before =
    decided === undefined
      ? nothing
      : html` ${foreign(decided)} decided before you: it is ${inWords(status)}.`;
  return html`<p class="problem" role="alert"><strong>Not done.</strong> ${problem}.${before}</p>`;
}

interface Deciding {
  readonly name: KindName;
  readonly kind: ProposalKind;
  readonly found: Proposal;
  readonly tried: Tried;
}

/** The forms of a second operator; of an own proposal, who must decide instead. */
function deciding(visit: Visit, { name, kind, found, tried }: Deciding): Content {
  const { operator, csrf, times } = visit;
  const { id, status, requestedBy, expiresAt, what } = found;
  if (status !== 'proposed') return nothing;
  const isOwn = requestedBy === operator.name;
  const action = (act: string) => pathOf(['approvals', name, id, act]);
  const reason = { name: 'reason', label: 'Why not', isRequired: true, maxLength: 200, value: tried.reason };
  const submit = isOwn ? `Withdraw your ${kind.noun}` : `Reject: ${what}`;
  const reject = form({ csrf, action: action('reject'), fields: [reason], submit, isDangerous: true });
  const hasExpired = expiresAt !== undefined && Date.parse(expiresAt) <= times.nowMs;
  if (hasExpired)
    return html`<p class="problem">It could be approved until ${time(expiresAt, times)}, and has no effect any more.</p>`;
  if (isOwn)
    return html`<p>You asked for this, so another operator must decide: ${kind.rule}</p>
${only(visit, 'operator', () => html`<details><summary>You made a mistake?</summary>${reject}</details>`)}`;
  const approve = form({ csrf, action: action('approve'), submit: `Approve: ${what}` });
  return html`${only(visit, 'approver', () => approve)}${visit.may('operator') ? html`<details><summary>Reject it</summary>${reject}</details>` : nothing}`;
}
