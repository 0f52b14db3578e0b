import { createHash } from 'node:crypto';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { attributes, type Content, type Html, nothing } from './html.ts';

/** A field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  /** What to write, in a few words. */
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  /** Several lines. */
  readonly isLong?: boolean;
  readonly type?: 'text' | 'password' | 'date' | 'search' | 'file';
  /** One of these, by code and words. */
  readonly options?: readonly (readonly [code: string, words: string])[];
  readonly autocomplete?: string;
}

/** A field to choose one of some codes, which are shown in words; `blank` is what choosing none means. */
export const choiceField = (
  [name, label]: readonly [name: string, label: string],
  codes: readonly string[],
  value: string | undefined,
  blank?: string,
): Field => ({
  name,
  label,
  value,
  options: [
    ...(blank === undefined ? [] : [['', blank] as const]),
    ...codes.map((code) => [code, inWords(code)] as const),
  ],
});

/**
 * A form that changes something, with the session's token against forgery; one without the token changes nothing, and asks
 * for the page that shows what would happen.
 */
export function form(options: {
  readonly csrf?: string;
  readonly action: string;
  readonly fields?: readonly Field[];
  /** Fields that can be folded away under a line that says what they are about; those that everybody fills in are open. */
  readonly folded?: readonly (readonly [summary: string, fields: readonly Field[], isOpen?: boolean])[];
  /** Values that the person does not see. */
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  /** Says what happens, with the amount and the object. */
  readonly submit: string;
  /** Several ways to send it, each a button that says what it does; `submit` then stands above them. */
  readonly choices?: {
    readonly name: string;
    readonly of: readonly (readonly [value: string, words: string])[];
  };
  readonly isDangerous?: boolean;
  /** What was wrong with the last try. */
  readonly problem?: string | undefined;
  /** Where a script sends the form's file, and what tries its first lines out; the answer is shown below the form. */
  readonly upload?: { readonly path: string; readonly tryOut: string };
}): Html {
  const {
    csrf,
    action,
    fields = [],
    folded = [],
    hidden = {},
    submit,
    choices,
    isDangerous = false,
    problem,
    upload,
  } = options;
  return html`<form method="${csrf === undefined ? 'get' : 'post'}" action="${action}" class="form"${attributes({ 'data-upload': upload?.path })}>${problemOf(problem)}
${csrf === undefined ? nothing : html`<input type="hidden" name="csrf" value="${csrf}">`}
${hiddenFields(hidden)}
${fields.map((field) => control(field, idOf(action, submit), problem))}
${folded.map(([summary, inside, isOpen = false]) => html`<details${attributes({ open: isOpen })}><summary>${summary}</summary><div class="form">${inside.map((field) => control(field, idOf(action, submit), problem))}</div></details>`)}
${upload ? html`<button type="submit" name="dryRun" value="true">${upload.tryOut}</button> ` : nothing}${
  choices
    ? html`<fieldset class="choices"><legend>${submit}</legend>${choices.of.map(([value, words]) => html`<button type="submit" name="${choices.name}" value="${value}"><code>${value}</code> ${words}</button>`)}</fieldset>`
    : html`<button type="submit" class="${isDangerous ? 'danger' : 'primary'}">${submit}</button>`
}
${upload ? html`<progress max="100" value="0" hidden aria-label="How much is sent"></progress>` : nothing}</form>${upload ? html`<div tabindex="-1"></div>` : nothing}`;
}

/** A form that narrows a list; what it asks for is in the page's address. */
export function filters(options: {
  readonly action: string;
  readonly label: string;
  readonly fields: readonly Field[];
  /** Parameters of the address that stay. */
  readonly hidden?: Readonly<Record<string, string | undefined>>;
}): Html {
  const { action, label, fields, hidden = {} } = options;
  return html`<form method="get" action="${action}" class="filters" role="search" aria-label="${label}">${hiddenFields(hidden)}
${fields.map((field) => control(field, idOf(action, label), undefined))}<button type="submit">Show</button></form>`;
}

function hiddenFields(given: Readonly<Record<string, string | undefined>>): Content {
  return Object.entries(given).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

/** What was wrong, where a screen reader reads it first. */
export function problemOf(problem: Content): Html {
  return problem === undefined || problem === null
    ? nothing
    : html`<p class="problem" role="alert"><strong>Not done.</strong> ${problem}</p>`;
}

/** Tells the fields of one form from those of another on the same page. */
const idOf = (...form: readonly string[]): string =>
  `f${createHash('sha256').update(form.join(' ')).digest('hex').slice(0, 8)}`;

function control(field: Field, form: string, problem: string | undefined): Html {
  const { name, label, value = '', hint, options, isLong = false, isRequired = false } = field;
  const id = `${form}-${name}`;
  const isWrong = problem !== undefined && new RegExp(`\\b${name}\\b`).test(problem);
  const common = {
    id,
    name,
    required: isRequired,
    maxlength: field.maxLength,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
    'aria-invalid': isWrong ? 'true' : undefined,
  };
  const input = options
    ? html`<select${attributes(common)}>${options.map(([code, words]) => html`<option${attributes({ value: code, selected: code === value })}>${words}</option>`)}</select>`
    : isLong
      ? html`<textarea rows="3"${attributes(common)}>${value}</textarea>`
      : html`<input${attributes({ ...common, type: field.type ?? 'text', value, autocomplete: field.autocomplete ?? 'off' })}>`;
  return html`<div class="field"><label for="${id}">${label}</label>${input}${hint === undefined ? nothing : html`<small id="${id}-hint">${hint}</small>`}</div>`;
}
