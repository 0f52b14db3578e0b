import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { decide, reasonField } from '../view/decide.ts';
import { attributes, type Content, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { listOf } from '../view/list.ts';
import { facts, tableOf } from '../view/table.ts';
import { age, count, state, time, words } from '../view/values.ts';
import { choiceOf, doOrShowAgain, part, type Routes, type Visit } from '../visits.ts';
import { readInbox } from './approvals-waiting.ts';
import { type KindName, type Proposal, proposalKinds } from './proposals.ts';

const names = Object.keys(proposalKinds) as KindName[];
const tabs = ['me', 'mine', 'decided'] as const;

/** Adds the inbox of what waits for a second operator, and a page for each proposal that has no other. */
export function addApprovalPages(routes: Routes): void {
  routes.page('/approvals', showInbox);
  for (const name of names) {
    routes.page(`/approvals/${name}/:id`, (visit) => showProposal(visit, name));
    routes.form(`/approvals/${name}/:id`, (submission) => {
      const { field, part: named, path } = submission;
      return doOrShowAgain(
        async () => {
          const what = choiceOf(field, 'what', ['approve', 'reject']);
          await proposalKinds[name][what](submission, named('id'), field('reason'));
          return path;
        },
        (problem) => showProposal(submission, name, { problem, reason: field('reason') }),
      );
    });
  }
}

const entry = (path: string, text: Content, isHere: boolean): Html =>
  html`<a href="${path}"${attributes({ 'aria-current': isHere ? 'page' : undefined })}>${text}</a>`;

async function showInbox(visit: Visit): Promise<Page> {
  const { query, operator, times } = visit;
  const tab = tabs.find((one) => one === query('tab')) ?? 'me';
  const { waiting, isCut, silent } = await readInbox(visit);
  const [mine = [], others = []] = [true, false].map((isOwn) =>
    waiting.filter(({ requestedBy }) => (requestedBy === operator.name) === isOwn),
  );
  const counted = (of: readonly unknown[]) => count({ count: of.length, isCut });
  const whose = [
    entry('/approvals', html`For me (${counted(others)})`, tab === 'me'),
    entry('/approvals?tab=mine', html`Mine (${counted(mine)})`, tab === 'mine'),
    entry('/approvals?tab=decided', 'Decided', tab === 'decided'),
  ];
  const table = () =>
    tableOf(
      'The newest of each kind; each is decided on its page',
      tab === 'me' ? others : mine,
      [
        ['What', ({ what, path }) => link(path, foreign(what))],
        ['Kind', ({ kind }) => kind],
        ['Proposed by', ({ requestedBy }) => foreign(requestedBy)],
        ['Age', ({ requestedAt }) => age(requestedAt, times)],
        ['Why', ({ why }) => words(why, times)],
      ],
      tab === 'me' ? 'Nothing of another operator waits for you.' : 'Nothing that you proposed waits.',
    );
  const body = html`<nav class="tabs" aria-label="Whose">${whose}</nav>
${silent.map((why) => html`<p class="problem" role="alert">Not available: ${why}</p>`)}${tab === 'decided' ? listDecided(visit) : table()}`;
  return { title: 'Approvals', body };
}

function listDecided(visit: Visit): Html {
  const name = names.find((one) => one === visit.query('of')) ?? 'orders';
  const { list, noun, title } = proposalKinds[name];
  const kinds = names.map((of) =>
    entry(pathOf(['approvals'], { tab: 'decided', of }), proposalKinds[of].title, of === name),
  );
  const found = listOf(visit, {
    path: ['approvals'],
    caption: `${title}, the newest first`,
    kept: ['tab', 'of'],
    read: async (cursor) => {
      const { items, next } = await list(visit, { cursor });
      return { items: items.filter(({ status }) => status !== 'proposed'), next };
    },
    columns: [
      ['What', ({ what, path }) => link(path, foreign(what))],
      ['Asked for by', ({ requestedBy }) => foreign(requestedBy)],
      ['Age', ({ requestedAt }) => age(requestedAt, visit.times)],
      ['Why', ({ why }) => words(why, visit.times)],
      ['State', ({ status }) => state(status)],
      ['Decided by', ({ approvedBy, rejectedBy }) => foreign(approvedBy ?? rejectedBy)],
    ],
    empty: `No ${noun} on this page was decided.`,
  });
  return html`<nav class="tabs" aria-label="Kinds">${kinds}</nav>${found}<p>${link('/actions', 'Who decided everything else')}</p>`;
}

interface Tried {
  readonly problem?: string;
  readonly reason?: string | undefined;
}

async function showProposal(visit: Visit, name: KindName, tried: Tried = {}): Promise<Page> {
  const { times, part: named } = visit;
  const { show, rule, noun } = proposalKinds[name];
  const found = await show(visit, named('id'));
  const { status, requestedBy, approvedBy, rejectedBy, rejectedFor, appliedAt, refusedFor } = found;
  const by = (who: string | undefined, at: string | undefined, why?: string) =>
    who && html`${foreign(who)}, ${time(at, times)}${why && html`: ${words(why, times)}`}`;
  const known = facts([
    ['Status', state(status)],
    ['Asked for by', by(requestedBy, found.requestedAt)],
    ['Why', words(found.why, times)],
    ['Approved by', by(approvedBy, found.approvedAt ?? appliedAt)],
    ['Rejected by', by(rejectedBy, found.rejectedAt, rejectedFor)],
    ['Applied', appliedAt && time(appliedAt, times)],
    ['Refused for', refusedFor && foreign(inWords(refusedFor))],
    ['Can be approved until', status === 'proposed' ? time(found.expiresAt, times) : undefined],
    ['Why two people', rule.replace(/^./, (letter) => letter.toUpperCase())],
  ]);
  let isKnown = true;
  const reading = Promise.resolve(found.changes(visit)).catch((error: unknown) => {
    isKnown = false;
    throw error;
  });
  const changes = await part(reading);
  const body = html`<p>${foreign(found.what)}</p>${problemOf(tried.problem, found)}${deciding(visit, found, isKnown, tried)}
${section(status === 'proposed' ? 'What it would change' : 'What it changed', changes)}${section('Who and why', known)}
<p>${link('/approvals', 'Back to the inbox')}</p>`;
  const title = `${noun.replace(/^./, (letter) => letter.toUpperCase())}: ${inWords(status)}`;
  return { title, body, ...(status === 'approved' && { everySeconds: 2 }) };
}

/** Why a decision was not taken, with who decided before. */
function problemOf(problem: string | undefined, { status, approvedBy, rejectedBy }: Proposal): Html {
  const decided = approvedBy ?? rejectedBy;
  const before =
    decided !== undefined && html` ${foreign(decided)} decided before you: it is ${inWords(status)}.`;
  return problem === undefined
    ? nothing
    : html`<p class="problem" role="alert"><strong>Not done.</strong> ${problem}.${before}</p>`;
}

/** The forms of a second operator, while it can be decided. */
function deciding(visit: Visit, found: Proposal, isKnown: boolean, { reason }: Tried): Html {
  const { status, requestedBy, expiresAt, what } = found;
  if (status !== 'proposed') return nothing;
  if (expiresAt !== undefined && Date.parse(expiresAt) <= visit.times.nowMs)
    return html`<p class="problem">It could be approved until ${time(expiresAt, visit.times)}, and has no effect any more.</p>`;
  return decide(visit, {
    ...{ action: visit.path, requestedBy, otherwise: 'nothing changes', fields: [reasonField(reason)] },
    approve: isKnown ? `Approve: ${what}` : undefined,
  });
}
