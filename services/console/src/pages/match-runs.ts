import { type CloseRecordView, type closeOperations, statusOperations } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import type { z } from 'zod';
import { type Content, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { section } from '../view/layout.ts';
import { linkTo } from '../view/links.ts';
import { type Columns, listOf, tabs } from '../view/table.ts';
import { count, type TimeView, timeText } from '../view/values.ts';
import { only, type Routes, type Visit } from '../visits.ts';

/** What compares many payments with what a rail says, such as closes. */
interface Runs<Run, Item> {
  readonly home: 'closes' | 'statements';
  readonly operations: {
    readonly show: { readonly answers: { readonly 200: z.ZodType<Run> } };
    readonly records: { readonly answers: { readonly 200: z.ZodType<{ items: Item[] }> } };
  };
  readonly results: readonly string[];
  readonly title: string;
  /** Begins one, on a page of its own. */
  readonly begin: string;
  readonly columns: (times: TimeView) => Columns<Run>;
  readonly empty: Content;
  /** One run: its title, what it gave, whether it still moves, and what to say about it. */
  readonly show: (
    run: Run,
    times: TimeView,
  ) => readonly [title: string, counts: Counts, moves: boolean, about: Content];
  readonly records: string;
  readonly recordColumns: (times: TimeView, items: readonly Item[]) => Columns<Item>;
}

type Counts = Readonly<Record<string, number>> | null;

/** Adds the pages of runs: the list, and each with its records, of one result or all, and their export. */
export function addRunPages<Run, Item>(routes: Routes, runs: Runs<Run, Item>): void {
  // Runs of either kind have the same operations; only their answers differ.
  const { list, show, records, export: file } = runs.operations as unknown as typeof closeOperations;
  const home = ['reconciliation', runs.home];
  const resultOf = ({ query }: Visit) =>
    runs.results.find((one) => one === query('result')) as CloseRecordView['result'] | undefined;
  routes.page(pathOf(home), async (visit) => {
    const shown = await listOf<Run>(visit, {
      path: home,
      caption: 'The newest first',
      read: (cursor) => visit.upstream.call('reconciler', list, { query: { cursor } }) as Promise<never>,
      columns: runs.columns(visit.times),
      empty: runs.empty,
    });
    const begin = () => html`<p class="actions">${link(pathOf([...home, 'new']), runs.begin)}</p>`;
    return { title: runs.title, body: html`${only(visit, 'operator', begin)}${shown}` };
  });
  routes.page(`${pathOf(home)}/:id`, async (visit) => {
    const { call } = visit.upstream;
    const [parameters, result] = [{ id: visit.part('id') }, resultOf(visit)];
    const path = [...home, parameters.id];
    const caption = result === undefined ? runs.records : `${runs.records}: ${inWords(result)}`;
    const [run, found] = await Promise.all([
      call('reconciler', show, { parameters }) as Promise<never>,
      listOf<Item>(visit, {
        path,
        kept: ['result'],
        caption: 'What each side says',
        read: (cursor) =>
          call('reconciler', records, { parameters, query: { result, cursor } }) as Promise<never>,
        columns: (items) => runs.recordColumns(visit.times, items),
        empty: html`Nothing here so far. ${result !== undefined && link(pathOf(path), 'Show all')}`,
      }),
    ]);
    const [title, counts, moves, about] = runs.show(run, visit.times);
    const csv = [pathOf([...path, 'export'], { result }), 'Download these as CSV'] as const;
    const body = html`${resultLinks(path, counts, result)}${about}${section(caption, found, moves ? undefined : csv)}`;
    return { title, body, ...(moves && { everySeconds: 2 }) };
  });
  routes.download(`${pathOf(home)}/:id/export`, (visit) =>
    visit.upstream.fetch('reconciler', file, {
      parameters: { id: visit.part('id') },
      query: { result: resultOf(visit) },
    }),
  );
}

/** A period to the minute, in the zone of the pages. */
export function periodText(from: string | null, to: string | null, { zone }: TimeView): string {
  const text = (at: string | null) => (at === null ? 'the first line' : timeText(at, zone).slice(0, 16));
  return `${text(from)} to ${to === null ? 'the last one' : text(to)}`;
}

/** The rails that are configured, for a choice: also those without a comparison so far. */
export async function railOptions({
  upstream: { call },
}: Visit): Promise<readonly (readonly [string, string])[]> {
  const { polls } = await call('reconciler', statusOperations.show, {});
  const rails = (polls ?? []).filter(({ configured }) => configured);
  return rails.map(({ rail }) => [rail, rail] as const);
}

/** What one side says: the status, and the amount and the fee as far as they are known. */
export function side(
  given: { readonly status: string | null; readonly amount: string | null; readonly fee: string | null },
  currency: string | null,
): Html {
  const { status, amount, fee } = given;
  const parts = [
    ...(status === null ? [] : [inWords(status)]),
    ...(amount === null ? [] : [displayAmount(amount, currency ?? '')]),
    ...(fee === null ? [] : [`fee ${displayAmount(fee, currency ?? '')}`]),
  ];
  return parts.length === 0 ? dash : foreign(parts.join(', '));
}

/** Links to breaks, by their ids. */
export function breakLinks(ids: readonly (string | null)[]): Content {
  const known = ids.filter((id) => id !== null);
  return known.map((id) => html`${linkTo('break', id, `break: ${inWords(id.split('/').at(-1) ?? id)}`)} `);
}

/** The counts of a run's results; each leads to its records. */
export function resultLinks(
  path: readonly string[],
  results: Readonly<Record<string, number>> | null,
  chosen?: string,
): Html {
  const found = Object.entries(results ?? {}).filter(([, number]) => number > 0);
  if (found.length === 0) return results === null ? nothing : html`nothing to compare`;
  const all = found.reduce((sum, [, number]) => sum + number, 0);
  const tab = (result: string | undefined, number: number, words: string) =>
    [pathOf(path, { result }), html`${count(number)} ${words}`, result === chosen] as const;
  const views = found.map(([result, number]) => tab(result, number, inWords(result)));
  return tabs(`Results of ${path.at(-1) ?? ''}`, [...views, tab(undefined, all, 'in all')]);
}
