import { ClientError, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { fromEach, type Given, type Routes, type Submission, type Visit } from '../visits.ts';
import { addChange, askAgain } from './change.ts';
import type { Field } from './form.ts';
import { type Html, link, nothing } from './html.ts';
import { linkTo, pathTo } from './links.ts';
import { type Columns, tableOf } from './table.ts';
import { state, these, words } from './values.ts';

const CHOSEN_MAX = 100;

/** What is done with several things of a list at once. */
interface Bulk<Item> {
  readonly subject: 'break' | 'delivery';
  readonly noun: string;
  /** What is done with so many, such as `Send these 2 webhooks again`. */
  readonly does: (which: string) => string;
  readonly field?: Field;
  readonly about?: Html;
  readonly read: (visit: Visit, id: string) => Promise<Item>;
  readonly columns: (visit: Visit) => Columns<Item>;
  /** Does it with one, as it was shown if it has a version. */
  readonly act: (submission: Submission, id: string, version: number) => Promise<unknown>;
  readonly list: string;
}

/** The column of a list in which things are chosen. */
export const chooseColumn = [
  'Choose',
  ({ id }: { readonly id: string }, index: number) =>
    html`<input type="checkbox" name="pick-${index}" value="${id}" aria-label="Choose ${id}">`,
] as const;

/** Adds a page on which the chosen things are shown as they stand now, and what is done with each. */
export function addBulk<Item extends { readonly id: string; readonly version?: number }>(
  routes: Routes,
  path: string,
  bulk: Bulk<Item>,
): void {
  const { subject, noun, does, field, about, list } = bulk;
  const back = [list, `Back to the ${noun}s`] as const;
  addChange(
    routes,
    path,
    async (visit, given) => {
      const ids = chosenIn(given).map(({ id }) => id);
      const { found, problems } = await fromEach(ids, (id) => bulk.read(visit, id));
      const empty = html`Nothing was chosen. ${link(list, `Choose ${noun}s in the list`)}`;
      const submit = does(these(found.length, noun));
      const hidden = found.flatMap(({ id, version }, index) => [
        [`pick-${index}`, id],
        [`version-${index}`, version?.toString()],
      ]);
      return {
        title: `${submit}?`,
        about: html`${problems}${tableOf('As they stand now', found, bulk.columns(visit), empty)}${about}`,
        fields: field ? [field] : [],
        hidden: Object.fromEntries(hidden) as Readonly<Record<string, string | undefined>>,
        submit: found.length === 0 ? undefined : submit,
        back,
      };
    },
    async (submission) => {
      const chosen = chosenIn(submission.field);
      const [only] = chosen;
      if (only && chosen.length === 1) {
        await bulk.act(submission, only.id, only.version);
        return pathTo(subject, only.id);
      }
      // One that fails stops no other, and hides no other's outcome.
      const results = await Promise.all(
        chosen.map(async ({ id, version }) => {
          const why = await bulk.act(submission, id, version).then(() => undefined, whyNot);
          return { id, why };
        }),
      );
      const failed = results.filter(({ why }) => why !== undefined);
      const written = field && { [field.name]: submission.field(field.name) ?? '' };
      const again = Object.fromEntries(failed.map(({ id }, index) => [`pick-${index}`, id]));
      const shown = tableOf(
        'What became of each',
        results,
        [
          ['Id', ({ id }) => linkTo(subject, id)],
          ['Outcome', ({ why }) => state(why === undefined ? 'done' : 'failed')],
          ['Why', ({ why }) => words(why, submission.times)],
        ],
        'Nothing was chosen.',
      );
      const look = `Look at the ${failed.length} that failed`;
      const body = html`${shown}${failed.length === 0 ? nothing : askAgain(submission, { ...again, ...written }, look)}<p>${link(...back)}</p>`;
      const done = `${results.length - failed.length} of ${results.length} done`;
      return { title: `${does(`${noun}s`)}: ${done}`, body };
    },
  );
}

/** What was chosen on a page, with the versions that were shown. */
const chosenIn = (given: Given) =>
  Array.from({ length: CHOSEN_MAX }, (_, index) => ({
    id: given(`pick-${index}`) ?? '',
    version: Number(given(`version-${index}`)),
  })).filter(({ id }) => id !== '');

function whyNot(error: unknown): string {
  if (error instanceof ClientError) return messageOf(error);
  throw error;
}
