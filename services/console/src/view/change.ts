import type { OperatorRole } from '@pesewa/contracts';
import { ClientError, messageOf } from '@pesewa/operator-client';
import { html } from 'hono/html';
import {
  doOrShowAgain,
  type Given,
  isForbidden,
  only,
  type Routes,
  type Submission,
  type Visit,
} from '../visits.ts';
import { type Field, form, problemOf } from './form.ts';
import { type Content, type Html, link, nothing } from './html.ts';
import { type Page, section } from './layout.ts';
import { withTimes } from './values.ts';

/** A change as its page asks for it. */
export interface Change {
  readonly title: string;
  /** Stands above the form, whoever looks. */
  readonly about?: Content;
  /** An operator unless it takes another role. */
  readonly role?: OperatorRole;
  readonly fields?: readonly Field[];
  /** What goes with the fields and is not asked. */
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /**
   * Finds out what would happen, which is shown before it can be done; a refusal is shown beside the fields. Without it the
   * form itself does what its button says.
   */
  readonly foresee?: (() => Promise<Foreseen>) | undefined;
  /** The button of a form that does it at once; without it and `foresee` nothing can be done, and `about` says why. */
  readonly submit?: string | undefined;
  readonly isDangerous?: boolean;
  /** Where the page leads back to. */
  readonly back: readonly [path: string, text: string];
}

/** What would happen, and the button that does it, which says what and how much. */
export interface Foreseen {
  readonly shown: Content;
  /** Absent if nothing can be done. */
  readonly submit?: string | undefined;
  readonly isDangerous?: boolean;
  /** What is sent with the fields, such as the id by which it is done once. */
  readonly hidden?: Readonly<Record<string, string>>;
}

/**
 * Adds a change with an address of its own: the page asks, shows what would happen, and only then does it. If it is
 * refused, the page is shown again with the reason and with what was written. What is written goes in the bodies of
 * requests alone; the address may fill fields in beforehand.
 *
 * @param ask says what is asked, by what was written so far
 * @param act does it, and gives the path of the page that shows the new state, or a page with what was made
 */
export function addChange(
  routes: Routes,
  path: string,
  ask: (visit: Visit, given: Given) => Change | Promise<Change>,
  act: (submission: Submission) => Promise<string | Page>,
): void {
  routes.page(path, async (visit) => {
    const change = await ask(visit, visit.query);
    return show(
      visit,
      filledIn(change, ({ name, value }) => visit.query(name) ?? value),
    );
  });
  routes.form(path, async (submission) => {
    const again = async (problem?: string) => {
      const change = await ask(submission, submission.field);
      // A field that was left empty has nothing, whatever it began with.
      const written = filledIn(change, ({ name }) => submission.field(name));
      return show(submission, written, { isWritten: true, problem });
    };
    if (submission.field(STEP) === FORESEE) return { again: await again(), status: 200 } as const;
    return doOrShowAgain(
      () => act(submission),
      (problem) => again(withTimes(problem, submission.times)),
    );
  });
}

const filledIn = (change: Change, valueOf: (field: Field) => string | undefined): Change => ({
  ...change,
  fields: (change.fields ?? []).map((field) => ({ ...field, value: valueOf(field) })),
});

const STEP = 'step';
const FORESEE = 'foresee';

/** A button that shows a change's page anew, filled in with what was written. */
export const askAgain = (
  { csrf, path }: Visit,
  written: Readonly<Record<string, string>>,
  submit: string,
): Html => form({ csrf, action: path, hidden: { ...written, [STEP]: FORESEE }, submit });

interface Tried {
  readonly isWritten?: boolean;
  readonly problem?: string | undefined;
}

async function show(visit: Visit, change: Change, tried: Tried = {}): Promise<Page> {
  const { title, about = nothing, role = 'operator', back } = change;
  const asked = visit.may(role) ? await forms(visit, change, tried) : only(visit, role, () => nothing);
  return { title, body: html`${about}${asked}<p>${link(...back)}</p>` };
}

async function forms(visit: Visit, change: Change, { isWritten = false, problem }: Tried): Promise<Html> {
  const { fields = [], hidden = {}, foresee, submit, isDangerous = false } = change;
  const common = { csrf: visit.csrf, action: visit.path };
  if (!foresee)
    return submit === undefined
      ? problemOf(problem)
      : form({ ...common, fields, hidden, submit, isDangerous, problem });
  const isAsked = fields.length === 0 || (isWritten && problem === undefined);
  const found = isAsked ? await foreseen(visit, foresee) : undefined;
  const refusal = problem ?? (typeof found === 'string' ? found : undefined);
  const draft = form({
    ...common,
    fields,
    hidden: { ...hidden, [STEP]: FORESEE },
    submit: fields.length === 0 ? 'Look again' : 'Show what would happen',
    problem: refusal,
  });
  if (found === undefined || typeof found === 'string') return draft;
  const written = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
  const confirm = found.submit !== undefined && {
    ...common,
    hidden: { ...hidden, ...written, ...found.hidden },
    submit: found.submit,
    isDangerous: found.isDangerous ?? false,
    problem: fields.length === 0 ? problem : undefined,
  };
  const would = section('What would happen', html`${found.shown}${confirm ? form(confirm) : nothing}`);
  return html`${would}${fields.length === 0 ? nothing : section('As it is written', draft)}`;
}

/** What would happen, or why it would be refused or is not known. */
async function foreseen({ times }: Visit, foresee: () => Promise<Foreseen>): Promise<Foreseen | string> {
  try {
    return await foresee();
  } catch (error) {
    if (!(error instanceof ClientError) || isForbidden(error)) throw error;
    return withTimes(messageOf(error), times);
  }
}
