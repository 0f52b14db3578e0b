import {
  type ActionView,
  actionOperations,
  type MessagingService,
  messagingServices,
} from '@pesewa/contracts';
import { ClientError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { filters } from '../view/form.ts';
import { foreign, link, pathOf } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { table } from '../view/table.ts';
import { time } from '../view/values.ts';
import type { Routes, Visit } from '../visits.ts';

const SHOWN_MAX = 200;

/** Who did what at which service, found by operator and by what it was about. */
export function addActionsPage(routes: Routes): void {
  routes.page('/actions', showActions);
}

type Found = ActionView & { readonly service: MessagingService };

async function showActions(visit: Visit): Promise<Page> {
  const [operator, object] = [visit.query('operator'), visit.query('object')];
  const silent: string[] = [];
  const found = await Promise.all(
    messagingServices.map(async (service): Promise<readonly Found[]> => {
      try {
        const query = { operator, object, limit: SHOWN_MAX };
        const { items } = await visit.upstream.call(service, actionOperations.list, { query });
        return items.map((item) => ({ ...item, service }));
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        silent.push(service);
        return [];
      }
    }),
  );
  const newest = found
    .flat()
    .toSorted((one, other) => other.at.localeCompare(one.at))
    .slice(0, SHOWN_MAX);
  const body = html`${filters({
    action: '/actions',
    label: 'Actions',
    fields: [
      { name: 'operator', label: 'Who', value: operator },
      { name: 'object', label: 'About', value: object, hint: 'an id, a reference or a name' },
    ],
  })}${silent.length > 0 ? html`<p class="problem" role="alert">No answer from ${silent.join(', ')}: what was done there is missing.</p>` : ''}
${table({
  caption: `What operators did, the newest ${SHOWN_MAX} at most`,
  columns: ['When', 'Who', 'Did', 'About', 'Answer'],
  rows: newest.map((one) => rowOf(visit, one)),
  empty: html`Nobody did anything like this yet. ${link('/actions', 'Show everything')}`,
})}`;
  return { title: 'Who did what', body };
}

function rowOf({ times }: Visit, { at, operator, service, operation, objects, status }: Found) {
  return [
    time(at, times),
    link(pathOf(['actions'], { operator }), operator),
    html`${operation} <small>${service}</small>`,
    objects.map((object) => html`${link(pathOf(['actions'], { object }), foreign(object))} `),
    status ?? 'none: it may have taken effect',
  ];
}
