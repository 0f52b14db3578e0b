import {
  type ActionView,
  actionOperations,
  type MessagingService,
  messagingServices,
  type Operation,
  operatorApis,
} from '@pesewa/contracts';
import { html } from 'hono/html';
import { type Content, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { listOf } from '../view/table.ts';
import { time } from '../view/values.ts';
import { fromEach, type Routes, type Visit } from '../visits.ts';

const SHOWN = 50;

/** Who did what at which service, found by operator, time and by what it was about. */
export function addActionsPage(routes: Routes): void {
  routes.page('/actions', showActions);
}

type Found = ActionView & { readonly service: MessagingService };

async function showActions(visit: Visit): Promise<Page> {
  const { times, upstream } = visit;
  let problems: readonly Html[] = [];
  const body = await listOf<Found>(visit, {
    path: ['actions'],
    caption: 'What operators did and what was refused to them, the newest first',
    fields: [
      { name: 'operator', label: 'Who' },
      { name: 'object', label: 'About: an id, a reference or a name' },
      { name: 'from', label: 'From, such as 27/11/2026 14:05' },
      { name: 'to', label: `Before, in ${times.zone}` },
    ],
    read: async (before, asked) => {
      const query = { ...asked, to: before ?? asked['to'], limit: SHOWN };
      const each = await fromEach(messagingServices, async (service) => {
        const { items } = await upstream.call(service, actionOperations.list, { query });
        return items.map((item): Found => ({ ...item, service }));
      });
      ({ problems } = each);
      const all = each.found.flat().toSorted((one, other) => other.at.localeCompare(one.at));
      const last = all[SHOWN - 1];
      // Each service is asked again for what came before the last one that is shown, and for what came with it.
      const next = last ? new Date(Date.parse(last.at) + 1).toISOString() : null;
      return { items: all.slice(0, SHOWN), next };
    },
    columns: [
      ['When', ({ at }) => time(at, times)],
      ['Who', ({ operator }) => link(pathOf(['actions'], { operator }), foreign(operator))],
      ['Did', ({ service, operation }) => whatOf(service, operation)],
      ['About', ({ objects }) => objects.map(about)],
      ['Outcome', ({ status }) => outcomeOf(status)],
    ],
    empty: 'Nobody did anything yet.',
    // Of services that give no answer nobody knows that nothing was done.
    around: (table, { length }) => html`${problems}${length > 0 || problems.length === 0 ? table : nothing}`,
  });
  return { title: 'Who did what', body };
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
