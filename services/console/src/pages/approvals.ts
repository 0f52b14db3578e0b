import { breakOperations, consumerGroups, parkedOperations } from '@pesewa/contracts';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { decide } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { pathTo } from '../view/links.ts';
import { type Columns, facts, listOf, tableOf, tabs } from '../view/table.ts';
import { age, count, state, time, words } from '../view/values.ts';
import { choiceOf, doOrShowAgain, fromEach, type Given, part, type Routes, type Visit } from '../visits.ts';
import { nameOf } from './break.ts';
import { describePause, pathOfResume, readPauses } from './pauses.ts';
import { type KindName, type Proposal, proposalKinds } from './proposals.ts';

const names = Object.keys(proposalKinds) as KindName[];
const NEWEST = 50;

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
          await proposalKinds[name][what](submission, named('id'), field('reason') ?? '');
          return path;
        },
        (problem) => showProposal(submission, name, { problem, given: field }),
      );
    });
  }
}

/** What one operator proposed and another must decide, on the page of its path. */
type Waiting = Pick<Proposal, 'what' | 'path' | 'requestedBy' | 'requestedAt' | 'why'>;

/** The newest of a kind that wait, and whether there are more. */
async function find<Item>(
  kind: string,
  reading: Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
  of: (item: Item) => Waiting | false | undefined,
) {
  const { items, next } = await reading;
  const waiting = items.flatMap((item) => of(item) || []).map((one) => ({ ...one, kind }));
  return { waiting: waiting.slice(0, NEWEST), hasMore: next !== null || waiting.length > NEWEST };
}

/** Everything that waits for a second operator, by kinds. */
function readWaiting(visit: Visit) {
  const { call } = visit.upstream;
  const query = { waitsForApproval: 'true', limit: NEWEST } as const;
  const resolutions = call('reconciler', breakOperations.list, { query });
  const pauses = readPauses(visit).then((items) => ({ items, next: null }));
  const kinds = [
    ...names.map((name) => {
      const { noun, list } = proposalKinds[name];
      return find(noun, list(visit, { status: 'proposed' }), (one) => one);
    }),
    find('resolution of a break', resolutions, ({ proposedResolution: proposed, ...one }) => {
      const { by: requestedBy = '', at: requestedAt = '', resolution: why } = proposed ?? {};
      const what = `Resolve ${nameOf(one)}`;
      return proposed && { what, path: pathTo('break', one.id), requestedBy, requestedAt, why };
    }),
    find('end of a pause', pauses, ({ resumeProposedBy: requestedBy, reason: why, ...pause }) => {
      const given = { what: `Resume ${describePause(pause)}`, path: pathOfResume(pause), why };
      return requestedBy !== null && { ...given, requestedBy, requestedAt: pause.pausedAt };
    }),
    ...consumerGroups.map((service) =>
      find(
        'discard of a message',
        call(service, parkedOperations.list, { query: { proposed: 'true' } }),
        ({ id, discard: it }) => {
          const given = { what: `Discard ${id}`, path: pathTo('parked', id), why: it?.reason };
          return it && { ...it, ...given };
        },
      ),
    ),
  ];
  return fromEach(kinds, (found) => found);
}

const columnsOf = ({ times }: Visit): Columns<Waiting> => [
  ['What', ({ what, path }) => link(path, foreign(what))],
  ['Asked for by', ({ requestedBy }) => foreign(requestedBy)],
  ['Age', ({ requestedAt }) => age(requestedAt, times)],
  ['Why', ({ why }) => words(why, times)],
];

async function showInbox(visit: Visit): Promise<Page> {
  const { query, operator } = visit;
  const tab = (['mine', 'decided'] as const).find((one) => one === query('tab')) ?? 'me';
  const { found, problems } = await readWaiting(visit);
  const waiting = found
    .flatMap(({ waiting: newest }) => newest)
    .toSorted((one, other) => other.requestedAt.localeCompare(one.requestedAt));
  const isCut = problems.length > 0 || found.some(({ hasMore }) => hasMore);
  const [mine = [], others = []] = [true, false].map((isOwn) =>
    waiting.filter(({ requestedBy }) => (requestedBy === operator.name) === isOwn),
  );
  const counted = (of: readonly Waiting[]) => html`(${count({ count: of.length, isCut })})`;
  const whose = [
    ['/approvals', html`For me ${counted(others)}`, tab === 'me'],
    ['/approvals?tab=mine', html`Mine ${counted(mine)}`, tab === 'mine'],
    ['/approvals?tab=decided', 'Decided', tab === 'decided'],
  ] as const;
  const [shown, empty] =
    tab === 'me'
      ? [others, 'Nothing of another operator waits for you.']
      : [mine, 'Nothing that you asked for waits.'];
  const columns = [['Kind', ({ kind }: { readonly kind: string }) => kind] as const, ...columnsOf(visit)];
  const caption = 'The newest of each kind; each is decided on its page';
  const list = tab === 'decided' ? listDecided(visit) : tableOf(caption, shown, columns, empty);
  return { title: 'Approvals', body: html`${tabs('Whose', whose)}${problems}${list}` };
}

function listDecided(visit: Visit): Html {
  const name = names.find((one) => one === visit.query('of')) ?? 'orders';
  const { list, noun, title } = proposalKinds[name];
  const kinds = names.map((of) => {
    const path = pathOf(['approvals'], { tab: 'decided', of });
    return [path, proposalKinds[of].title, of === name] as const;
  });
  const found = listOf<Proposal>(visit, {
    path: ['approvals'],
    caption: `${title}, the newest first`,
    kept: ['tab', 'of'],
    read: async (cursor) => {
      const { items, next } = await list(visit, { cursor });
      return { items: items.filter(({ status }) => status !== 'proposed'), next };
    },
    columns: [
      ...columnsOf(visit),
      ['State', ({ status }) => state(status)],
      ['Decided by', ({ approvedBy, rejectedBy }) => foreign(approvedBy ?? rejectedBy)],
    ],
    empty: `No ${noun} on this page was decided.`,
  });
  return html`${tabs('Kinds', kinds)}${found}<p>${link('/actions', 'Who decided everything else')}</p>`;
}

type Tried = { readonly problem?: string; readonly given?: Given };

async function showProposal(visit: Visit, name: KindName, tried: Tried = {}): Promise<Page> {
  const { times } = visit;
  const { show, rule, noun } = proposalKinds[name];
  const found = await show(visit, visit.part('id'));
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
    ['Why two people', capital(rule)],
  ]);
  let isKnown = true;
  const changes = await part(
    Promise.resolve(found.changes(visit)).catch((error: unknown) => {
      isKnown = false;
      throw error;
    }),
  );
  const body = html`<p>${foreign(found.what)}</p>${problemOf(tried.problem, found)}${deciding(visit, found, isKnown, tried)}
${section(status === 'proposed' ? 'What it would change' : 'What it changed', changes)}${section('Who and why', known)}
<p>${link('/approvals', 'Back to the inbox')}</p>`;
  const title = `${capital(noun)}: ${inWords(status)}`;
  return { title, body, ...(status === 'approved' && { everySeconds: 2 }) };
}

const capital = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

/** Why a decision was not taken, with who decided before. */
function problemOf(problem: string | undefined, { status, approvedBy, rejectedBy }: Proposal): Html {
  if (problem === undefined) return nothing;
  const decided = approvedBy ?? rejectedBy;
  return html`<p class="problem" role="alert"><strong>Not done.</strong> ${problem}.${decided && html` ${foreign(decided)} decided before you: it is ${inWords(status)}.`}</p>`;
}

/** The forms of a second operator, while it can be decided. */
function deciding(visit: Visit, found: Proposal, isKnown: boolean, { given }: Tried): Html {
  const { status, requestedBy, expiresAt, what } = found;
  if (status !== 'proposed') return nothing;
  if (expiresAt !== undefined && Date.parse(expiresAt) <= visit.times.nowMs)
    return html`<p class="problem">It could be approved until ${time(expiresAt, visit.times)}, and has no effect any more.</p>`;
  const approve = isKnown ? `Approve: ${what}` : undefined;
  return decide(visit, { action: visit.path, requestedBy, approve, otherwise: 'nothing changes' }, given);
}
