import { type MessagingService, type PauseView, pauseOperations, pauseScopes } from '@pesewa/contracts';
import { RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { reasonField } from '../view/decide.ts';
import { type Field, filters, form } from '../view/form.ts';
import { foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { tableOf } from '../view/table.ts';
import { age, time } from '../view/values.ts';
import { addChange, type Given, only, type Routes, type Visit } from '../visits.ts';

const gateways = { payouts: 'payout-gateway', collections: 'collection-gateway' } as const satisfies Record<
  string,
  MessagingService
>;
type What = keyof typeof gateways;
const whats = ['payouts', 'collections'] as const;

/** A pause, and what it stops. */
export type Paused = PauseView & { readonly what: What };

/** What is paused at both gateways. */
export async function readPauses({ upstream }: Visit): Promise<readonly Paused[]> {
  const lists = await Promise.all(
    whats.map((what) => upstream.call(gateways[what], pauseOperations.list, {})),
  );
  return lists.flatMap(({ items }, index) =>
    items.map((item) => ({ what: whats[index] ?? 'payouts', ...item })),
  );
}

/** What is paused, and what resumes it. */
export function pauseTable({ times, may }: Visit, pauses: readonly Paused[]): Html {
  const resume = ({ what, scope, name }: Paused) =>
    link(pathOf(['rails', 'resume'], { what, scope, name: name ?? undefined }), 'Resume…');
  return tableOf(
    'What goes to no rail',
    pauses,
    [
      ['Paused', (one) => describe(one)],
      ['For', ({ pausedAt }) => age(pausedAt, times)],
      ['By', ({ pausedBy }) => pausedBy],
      ['Reason', ({ reason }) => foreign(reason)],
      ['Resuming', ({ resumeProposedBy: by }) => (by === null ? 'not proposed' : `proposed by ${by}`)],
      ['To do', (one) => (may('operator') ? resume(one) : nothing)],
    ],
    'Nothing is paused.',
  );
}

/** What pauses payouts or collections at once, and what resumes them by two operators (ADR 77). */
export function addPausePages(routes: Routes): void {
  addChange(routes, '/rails/pause', showPause, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    await upstream.call(gateways[what], pauseOperations.pause, {
      body: { ...subject, reason: field('reason') ?? '' },
    });
    return pageOf(subject);
  });
  addChange(routes, '/rails/resume', showResume, async ({ upstream, field }) => {
    const { what, ...subject } = subjectOf(field);
    const answer = await upstream.call(gateways[what], pauseOperations.resume, { body: subject });
    return 'resumed' in answer ? pageOf(subject) : pathOf(['rails', 'resume'], { what, ...subject });
  });
}

type Subject = Pick<PauseView, 'scope'> & { readonly what: What; readonly name?: string | undefined };

function subjectOf(given: Given): Subject {
  const what = whats.find((one) => one === given('what')) ?? 'payouts';
  const scope = pauseScopes.find((one) => one === given('scope')) ?? 'all';
  return { what, scope, ...(scope !== 'all' && { name: given('name') ?? '' }) };
}

const pageOf = ({ scope, name = '' }: Omit<Subject, 'what'>) =>
  scope === 'rail' ? pathOf(['rails', name]) : '/rails';
const hiddenOf = ({ what, scope, name }: Subject) => ({ what, scope, ...(name !== undefined && { name }) });

function describe({
  what,
  scope,
  name,
}: Pick<Paused, 'what' | 'scope'> & { readonly name?: string | null | undefined }): string {
  return scope === 'all'
    ? `${what} of every merchant at every rail`
    : `${what} ${scope === 'rail' ? 'at' : 'of'} ${name}`;
}

/** First asks what is meant, then why. */
function showPause(visit: Visit, given: Given, problem?: string): Page {
  const subject = subjectOf(given);
  const isNamed = given('what') !== undefined && subject.name !== '';
  const fields: readonly Field[] = [
    { name: 'what', label: 'Pause', value: subject.what, options: whats.map((one) => [one, one]) },
    {
      name: 'scope',
      label: 'Of',
      value: given('scope'),
      options: [
        ['all', 'everything'],
        ['rail', 'one rail'],
        ['merchant', 'one merchant'],
      ],
    },
    { name: 'name', label: 'Rail or merchant', value: given('name'), hint: 'Its id; empty for everything' },
  ];
  const choose = filters({ action: '/rails/pause', label: 'What to pause', fields });
  const confirm = () =>
    html`<p>Within a second nothing more of it goes to a rail. What is accepted already waits, and what was sent goes on. New requests are turned away, without the reason. It takes two operators to resume.</p>
${form({ csrf: visit.csrf, action: '/rails/pause', hidden: hiddenOf(subject), fields: [reasonField(given('reason'))], submit: `Pause ${describe(subject)}`, isDangerous: true, problem })}`;
  const body = isNamed ? section('What will happen', only(visit, 'operator', confirm)) : nothing;
  return {
    title: isNamed ? `Pause ${describe(subject)}?` : 'Pause',
    body: html`${body}${section('What is meant', choose)}`,
  };
}

async function showResume(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const subject = subjectOf(given);
  const pauses = await readPauses(visit);
  const paused = pauses.find(
    ({ what, scope, name }) =>
      what === subject.what && scope === subject.scope && (name ?? undefined) === subject.name,
  );
  if (!paused) throw new RefusedError(`${describe(subject)} are not paused`, 404);
  const { resumeProposedBy: by } = paused;
  const submit = `${by === null ? 'Propose to resume' : 'Resume'} ${describe(subject)}`;
  const action =
    () => html`<p>${by === null ? 'Another operator must resume it then.' : `${by} proposed it: what waits goes to the rails at once.`}</p>
${form({ csrf: visit.csrf, action: '/rails/resume', hidden: hiddenOf(subject), submit, isDangerous: by !== null, problem })}`;
  const change =
    by === visit.operator.name
      ? html`<p>You proposed to resume it: another operator must do it.</p>`
      : only(visit, 'operator', action);
  const why = html`<p>${paused.pausedBy} paused it at ${time(paused.pausedAt, visit.times)}: ${foreign(paused.reason)}</p>`;
  return { title: `Resume ${describe(subject)}?`, body: section('Paused', html`${why}${change}`) };
}
