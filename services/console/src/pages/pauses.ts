import { type PauseView, pauseOperations, pauseScopes } from '@pesewa/contracts';
import { describeScope, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { reasonField } from '../view/decide.ts';
import { choiceField, filters, form } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { tableOf } from '../view/table.ts';
import { age, time } from '../view/values.ts';
import { addChange, choiceOf, type Given, only, type Routes, type Visit } from '../visits.ts';

const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const;
const whats = ['payouts', 'collections'] as const;

interface Subject {
  readonly what: keyof typeof gateways;
  readonly scope: PauseView['scope'];
  /** Of the rail or the merchant; absent if everything is meant. */
  readonly name?: string;
}

/** What is paused at both gateways, of one rail or everywhere, with what resumes it. */
export async function pauseTable(visit: Visit, rail?: string): Promise<Html> {
  const { times, may } = visit;
  const pauses = (await readPauses(visit)).filter(
    ({ scope, name }) => rail === undefined || scope === 'all' || (scope === 'rail' && name === rail),
  );
  return tableOf(
    'What goes to no rail',
    pauses,
    [
      ['Paused', describePause],
      ['For', ({ pausedAt }) => age(pausedAt, times)],
      ['By', ({ pausedBy }) => pausedBy],
      ['Reason', ({ reason }) => foreign(reason)],
      ['Resuming', ({ resumeProposedBy: by }) => (by === null ? 'not proposed' : `proposed by ${by}`)],
      ['To do', (one) => (may('operator') ? link(pathOfResume(one), 'Resume…') : nothing)],
    ],
    'Nothing is paused.',
  );
}

/** What is paused at both gateways. */
export async function readPauses({ upstream }: Visit) {
  const read = async (what: Subject['what']) => {
    const { items } = await upstream.call(gateways[what], pauseOperations.list, {});
    return items.map(({ name, ...item }) => ({ ...item, what, ...(name !== null && { name }) }));
  };
  return (await Promise.all(whats.map(read))).flat();
}

/** What pauses payouts or collections at once, and what resumes them by two operators (ADR 77). */
export function addPausePages(routes: Routes): void {
  addChange(routes, '/rails/pause', showPause, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    const body = { ...subject, reason: field('reason') ?? '' };
    await upstream.call(gateways[what], pauseOperations.pause, { body });
    return pageOf(subject);
  });
  addChange(routes, '/rails/resume', showResume, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    const answer = await upstream.call(gateways[what], pauseOperations.resume, { body: subject });
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
  scope === 'rail' ? pathOf(['rails', name]) : '/rails';
const hiddenOf = ({ what, scope, name }: Subject) => ({ what, scope, ...(name !== undefined && { name }) });
/** Where a pause is resumed. */
export const pathOfResume = (subject: Subject) => pathOf(['rails', 'resume'], hiddenOf(subject));

/** What a pause stops, such as `payouts at upstream`. */
export const describePause = ({ what, ...subject }: Subject): string => `${what} ${describeScope(subject)}`;

/** First asks what is meant, then why. */
function showPause(visit: Visit, given: Given, problem?: string): Page {
  const fields = [
    choiceField(['what', 'Pause'], whats, given('what')),
    choiceField(['scope', 'Of'], pauseScopes, given('scope')),
    { name: 'name', label: 'Rail or merchant', value: given('name'), hint: 'Its id, unless all are meant' },
  ];
  const choose = section(
    'What is meant',
    filters({ action: '/rails/pause', label: 'What to pause', fields }),
  );
  if (given('what') === undefined) return { title: 'Pause', body: choose };
  const subject = subjectOf(given);
  const confirm = () =>
    html`<p>Within a second nothing more of it goes to a rail. What is accepted already waits, and what was sent goes on. New requests are turned away, without the reason. It takes two operators to resume.</p>
${form({ csrf: visit.csrf, action: '/rails/pause', hidden: hiddenOf(subject), fields: [reasonField(given('reason'))], submit: `Pause ${describePause(subject)}`, isDangerous: true, problem })}`;
  const body = html`${section('What will happen', only(visit, 'operator', confirm))}${choose}`;
  return { title: `Pause ${describePause(subject)}?`, body };
}

async function showResume(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const subject = subjectOf(given);
  const pauses = await readPauses(visit);
  const paused = pauses.find((one) => pathOfResume(one) === pathOfResume(subject));
  if (!paused) throw new RefusedError(`${describePause(subject)} are not paused`, 404);
  const { pausedBy, pausedAt, reason, resumeProposedBy: by } = paused;
  const submit = `${by === null ? 'Propose to resume' : 'Resume'} ${describePause(subject)}`;
  const effect = `${by} proposed it: what waits goes to the rails at once.`;
  const confirm = () => html`<p>${by === null ? 'Another operator must do it then.' : effect}</p>
${form({ csrf: visit.csrf, action: '/rails/resume', hidden: hiddenOf(subject), submit, isDangerous: by !== null, problem })}`;
  const isOwn = by === visit.operator.name;
  const change = isOwn
    ? html`<p>You proposed to resume it: another operator must do it.</p>`
    : only(visit, 'operator', confirm);
  const why = html`<p>${pausedBy} paused it at ${time(pausedAt, visit.times)}: ${foreign(reason)}</p>`;
  return { title: `Resume ${describePause(subject)}?`, body: section('Paused', html`${why}${change}`) };
}
