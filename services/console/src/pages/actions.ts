import {
  type ActionView,
  actionOperations,
  type MessagingService,
  messagingServices,
  type Operation,
  operatorApis,
} from '@pesewa/contracts';
import { html } from 'hono/html';
import { filters } from '../view/form.ts';
import { type Content, foreign, link, pathOf } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { pager, tableOf } from '../view/table.ts';
import { time } from '../view/values.ts';
import { fromEach, momentOf, type Routes, type Visit } from '../visits.ts';

const SHOWN = 50;

/** Who did what at which service, found by operator, time and by what it was about. */
export function addActionsPage(routes: Routes): void {
  routes.page('/actions', showActions);
}

type Found = ActionView & { readonly service: MessagingService };

async function showActions(visit: Visit): Promise<Page> {
  const { query, times, upstream } = visit;
  const field = (name: string, label: string) => ({ name, label, value: query(name) });
  const fields = [
    field('operator', 'Who'),
    field('object', 'About: an id, a reference or a name'),
    field('from', 'From, such as 27/11/2026 14:05'),
    field('to', `Before, in ${times.zone}`),
  ];
  const asked = { operator: query('operator'), object: query('object') };
  const [from, to] = [momentOf(visit, query, 'from'), momentOf(visit, query, 'to')];
  const read = async (service: MessagingService): Promise<readonly Found[]> => {
    const { items } = await upstream.call(service, actionOperations.list, {
      query: { ...asked, from, to, limit: SHOWN },
    });
    return items.map((item) => ({ ...item, service }));
  };
  const { found, problems } = await fromEach(messagingServices, read);
  const all = found.flat().toSorted((one, other) => other.at.localeCompare(one.at));
  const shown = all.slice(0, SHOWN);
  const last = shown.at(-1);
  // Each service is asked again for what came before the last one that is shown, and for what came with it.
  const next = all.length >= SHOWN && last ? new Date(Date.parse(last.at) + 1).toISOString() : null;
  const pages = pager({
    next,
    isFirst: query('to') === undefined,
    pathAfter: (before) => pathOf(['actions'], { ...asked, from: query('from'), to: before }),
  });
  const table = tableOf(
    'What operators did and what was refused to them, the newest first',
    shown,
    [
      ['When', ({ at }) => time(at, times)],
      ['Who', ({ operator }) => link(pathOf(['actions'], { operator }), foreign(operator))],
      ['Did', ({ service, operation }) => whatOf(service, operation)],
      ['About', ({ objects }) => objects.map(about)],
      ['Outcome', ({ status }) => outcomeOf(status)],
    ],
    html`Nobody did anything like this. ${link('/actions', 'Show everything')}`,
  );
  return {
    title: 'Who did what',
    body: html`${filters({ action: '/actions', label: 'Actions', fields })}${problems}${table}${pages}`,
  };
}

type Named<Value> = Readonly<Record<string, Value>>;
const apis: Named<Named<Named<Operation>>> = operatorApis;
const summaries = new Map<string, string>(
  Object.entries(apis).flatMap(([service, sets]) =>
    Object.values(sets)
      .flatMap((operations) => Object.values(operations))
      .map(
        ({ method, path, summary }) =>
          [`${service} ${method.toUpperCase()} ${path}`, summary.split(';', 1)[0] ?? ''] as const,
      ),
  ),
);

/** What was done, in the words of its operation, and where. */
const whatOf = (service: MessagingService, operation: string): Content =>
  html`${summaries.get(`${service} ${operation}`) ?? operation} <small>${service}</small>`;

/** What it was about: there, and all that was done with it. */
const about = (object: string): Content =>
  html`<div>${link(pathOf(['search'], { q: object }), foreign(object))} <small>${link(pathOf(['actions'], { object }), 'its history')}</small></div>`;

function outcomeOf(status: number | null): string {
  if (status === null) return 'the process ended before its answer: it may have taken effect';
  if (status < 300) return 'done';
  return status < 500 ? 'refused' : 'broke: it may have taken effect';
}
