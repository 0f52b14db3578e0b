import { type PauseView, pauseOperations, pauseScopes } from '@pesewa/contracts';
import { describeScope, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change } from '../view/change.ts';
import { choiceField, filters, reasonField } from '../view/form.ts';
import { type Html, link, pathOf } from '../view/html.ts';
import { pathTo } from '../view/links.ts';
import { age, state, time, words } from '../view/values.ts';
import { choiceOf, fromEach, type Given, type Routes, type Visit } from '../visits.ts';

/** The gateway of each kind of payment. */
export const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const;
/** The kinds of payments. */
export const whats = ['payouts', 'collections'] as const;
/** A kind of payment. */
export type What = (typeof whats)[number];

interface Subject {
  readonly what: What;
  readonly scope: PauseView['scope'];
  /** Of the rail or the merchant; absent if everything is meant. */
  readonly name?: string;
}

/** A pause of a gateway. */
export type Pause = Subject & Omit<PauseView, 'name'>;

/** The pauses of a kind of payment, as its gateway tells them. */
export const pausesOf = (what: What, pauses: readonly PauseView[]): readonly Pause[] =>
  pauses.map(({ name, ...pause }) => ({ ...pause, what, ...(name !== null && { name }) }));

/** What is paused at the gateways. */
export async function readPauses(
  { upstream }: Visit,
  of: readonly What[] = whats,
): Promise<readonly Pause[]> {
  const read = async (what: What) => {
    const { items } = await upstream.call(gateways[what], pauseOperations.list, {});
    return pausesOf(what, items);
  };
  return (await Promise.all(of.map(read))).flat();
}

/** Whether a pause stops payments at a rail, of all merchants. */
export const stopsRail = ({ scope, name }: Pause, rail: string): boolean =>
  scope === 'all' || (scope === 'rail' && name === rail);

/** What is paused, as far as the gateways say it, and what stands in place of those that do not. */
export async function readPaused(visit: Visit) {
  const { found, problems } = await fromEach(whats, (what) => readPauses(visit, [what]));
  return { pauses: found.flat(), silent: problems };
}

/** That something is paused, since when and why, and what resumes it. */
export function pausedLine({ times, may }: Visit, pause: Pause): Html {
  const { pausedBy, pausedAt, reason, resumeProposedBy: by } = pause;
  const waits = by === null ? '' : ` (${by} proposed to resume it: an approver must)`;
  return html`<div>${state('paused')} ${describePause(pause)} for ${age(pausedAt, times)}, by ${pausedBy}: ${words(reason, times)}${waits} ${may('operator') && link(pathOfResume(pause), 'Resume…')}</div>`;
}

/** What pauses payouts or collections at once, and what resumes them by two operators (ADR 77). */
export function addPausePages(routes: Routes): void {
  addChange(routes, '/rails/pause', askPause, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    const body = { ...subject, reason: field('reason') ?? '' };
    await upstream.call(gateways[what], pauseOperations.pause, { body });
    return pageOf(subject);
  });
  addChange(routes, '/rails/resume', askResume, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    const body = { ...subject, approves: field('approves'), pausedAt: field('pausedAt') ?? '' };
    const answer = await upstream.call(gateways[what], pauseOperations.resume, { body });
    return 'resumed' in answer ? pageOf(subject) : pathOfResume({ what, ...subject });
  });
}

/** What is meant; nothing is taken for everything. */
function subjectOf(given: Given): Subject {
  const what = choiceOf(given, 'what', whats);
  const scope = choiceOf(given, 'scope', pauseScopes);
  if (scope === 'all') return { what, scope };
  const name = given('name');
  if (name !== undefined) return { what, scope, name };
  throw new RefusedError(`name: which ${scope}?`, 422);
}

const pageOf = ({ scope, name = '' }: Omit<Subject, 'what'>) =>
  scope === 'rail' ? pathTo('rail', name) : '/rails';
const hiddenOf = ({ what, scope, name }: Subject) => ({ what, scope, ...(name !== undefined && { name }) });
/** Where a pause is resumed. */
export const pathOfResume = (subject: Subject) => pathOf(['rails', 'resume'], hiddenOf(subject));

/** What a pause stops, such as `payouts at upstream`. */
export const describePause = ({ what, ...subject }: Subject): string => `${what} ${describeScope(subject)}`;

/** First asks what is meant, then why. */
function askPause(_: Visit, given: Given): Change {
  const fields = [
    choiceField('what', 'Pause', whats),
    choiceField('scope', 'Of', pauseScopes),
    { name: 'name', label: 'Rail or merchant', hint: 'Its id, unless all are meant' },
  ];
  const choose = filters(given, { action: '/rails/pause', label: 'What to pause', fields });
  if (given('what') === undefined) return { title: 'Pause', about: choose, back: ['/rails', 'Rails'] };
  const subject = subjectOf(given);
  const submit = `Pause ${describePause(subject)}`;
  return {
    title: `${submit}?`,
    about: html`<p>Within a second nothing more of it goes to a rail. What is accepted already waits, and what was sent goes on. New requests are turned away, without the reason. It takes two operators to resume.</p>`,
    fields: [reasonField],
    hidden: hiddenOf(subject),
    submit,
    isDangerous: true,
    back: ['/rails/pause', 'Pause something else'],
  };
}

/** One operator proposes to resume; an approver resumes what was proposed. Which pause it is, and who proposed, are sent as they were seen. */
async function askResume(visit: Visit, given: Given): Promise<Change> {
  const subject = subjectOf(given);
  const what = describePause(subject);
  const pause = (await readPauses(visit, [subject.what])).find(
    (one) => pathOfResume(one) === pathOfResume(subject),
  );
  const back = [pageOf(subject), 'Back'] as const;
  if (!pause) {
    const about = html`<p>Nothing of it is paused now: ${link('/actions', 'who did what')} says who resumed it.</p>`;
    return { title: `Not paused: ${what}`, about, role: 'viewer', back };
  }
  const { pausedBy, pausedAt, reason, resumeProposedBy: by } = pause;
  const isOwn = by === visit.operator.name;
  const next =
    by === null
      ? 'Nobody has proposed to resume it. A proposal resumes nothing: an approver, who is somebody else, must do it then.'
      : isOwn
        ? 'You proposed to resume it: an approver, who is somebody else, must do it.'
        : `${by} proposed to resume it: what waits goes to the rails at once.`;
  return {
    title: `Resume ${what}?`,
    about: html`<p>${pausedBy} paused it at ${time(pausedAt, visit.times)}: ${words(reason, visit.times)}</p><p>${next}</p>`,
    role: isOwn ? 'viewer' : by === null ? 'operator' : 'approver',
    hidden: { ...hiddenOf(subject), pausedAt, ...(by !== null && { approves: by }) },
    submit: isOwn
      ? undefined
      : by === null
        ? `Propose to resume ${what}`
        : `Resume ${what}, as ${by} proposed`,
    isDangerous: by !== null,
    back,
  };
}
