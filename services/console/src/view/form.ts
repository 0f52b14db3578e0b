import { createHash } from 'node:crypto';
import { inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Given, only, type Visit } from '../visits.ts';
import { attributes, type Content, type Html, nothing } from './html.ts';

/** A field of a form. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** What it begins with, until something is written. */
  readonly value?: string | undefined;
  /** What to write, in a few words. */
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly maxLength?: number;
  /** Several lines. */
  readonly isLong?: boolean;
  readonly type?: 'date' | 'search' | 'file';
  /** One of these, by code and words. */
  readonly options?: readonly (readonly [code: string, words: string])[];
}

/** Fields that can be folded away under a line that says what they are about. */
export interface Folded {
  readonly summary: string;
  readonly fields: readonly Field[];
  readonly isOpen?: boolean;
}

type Hidden = Readonly<Record<string, string | undefined>>;

/** A field to choose one of some codes, which are shown in words; `blank` is what choosing none means. */
export const choiceField = (
  name: string,
  label: string,
  codes: readonly string[],
  blank?: string,
): Field => ({
  name,
  label,
  options: [
    ...(blank === undefined ? [] : [['', blank] as const]),
    ...codes.map((code) => [code, inWords(code)] as const),
  ],
});

/** The field of a reason that stays in the records. */
export const reasonField: Field = {
  name: 'reason',
  label: 'Reason',
  hint: 'One line, without names or numbers of people',
  isRequired: true,
  maxLength: 200,
};

/** A form that changes something, with the session's token against forgery. */
export function form(options: {
  readonly csrf: string;
  readonly action: string;
  readonly fields?: readonly (Field | Folded)[];
  /** What is written in the fields so far. */
  readonly given?: Given | undefined;
  /** Values that the person does not see. */
  readonly hidden?: Hidden;
  /** Says what happens, with the amount and the object. */
  readonly submit: string;
  /** Several ways to send it, in place of its one button. */
  readonly buttons?: Html;
  readonly isDangerous?: boolean;
  /** What was wrong with the last try. */
  readonly problem?: string | undefined;
  /** Where a script sends the form's file. */
  readonly upload?: string;
}): Html {
  const { csrf, action, fields = [], hidden = {}, submit, isDangerous = false, problem, upload } = options;
  const { given = () => undefined, buttons } = options;
  const button = html`<button type="submit" class="${isDangerous ? 'danger' : 'primary'}">${submit}</button>`;
  return html`<form method="post" action="${action}" class="form"${attributes({ 'data-upload': upload })}>${problemOf(problem)}
${hiddenFields({ csrf, ...hidden })}
${fieldsOf(fields, given, idOf(action, submit), problem)}
${buttons ?? button}</form>`;
}

/** A form that narrows a list; what it asks for is in the page's address. */
export function filters(
  given: Given,
  options: {
    readonly action: string;
    readonly label: string;
    readonly fields: readonly Field[];
    /** Parameters of the address that stay. */
    readonly hidden?: Hidden;
  },
): Html {
  const { action, label, fields, hidden = {} } = options;
  return html`<form method="get" action="${action}" class="filters" role="search" aria-label="${label}">${hiddenFields(hidden)}
${fieldsOf(fields, given, idOf(action, label))}<button type="submit">Show</button></form>`;
}

function hiddenFields(given: Hidden): Content {
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

function fieldsOf(
  fields: readonly (Field | Folded)[],
  given: Given,
  form: string,
  problem?: string,
): Content {
  return fields.map((one) => {
    if (!('summary' in one)) return control({ ...one, value: given(one.name) ?? one.value }, form, problem);
    const { summary, fields: inside, isOpen } = one;
    return html`<details${attributes({ open: isOpen })}><summary>${summary}</summary><div class="form">${fieldsOf(inside, given, form, problem)}</div></details>`;
  });
}

function control(field: Field, form: string, problem: string | undefined): Html {
  const { name, label, value = '', hint, options, isLong = false, isRequired = false, type = 'text' } = field;
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
      : html`<input${attributes({ ...common, type, value, autocomplete: 'off' })}>`;
  return html`<div class="field"><label for="${id}">${label}</label>${input}${hint === undefined ? nothing : html`<small id="${id}-hint">${hint}</small>`}</div>`;
}

/** What decides a proposal: another operator approves it, and anybody ends it; the form's `what` says which. */
export function decide(
  visit: Visit,
  proposal: {
    readonly action: string;
    readonly requestedBy: string;
    /** What approving does, in the words of a button; absent while nobody can know what it does. */
    readonly approve: string | undefined;
    /** What is so if it is rejected. */
    readonly otherwise: string;
    /** What tells the proposal that was seen from any other; it goes with either decision. */
    readonly hidden?: Readonly<Record<string, string>>;
    readonly problem?: string | undefined;
  },
  given: Given | undefined,
): Html {
  const { action, requestedBy, approve, otherwise, hidden = {}, problem } = proposal;
  const isOwn = requestedBy === visit.operator.name;
  const button = (what: string, submit: string, fields: readonly Field[], isTried: boolean) =>
    form({
      csrf: visit.csrf,
      action,
      hidden: { what, ...hidden },
      fields,
      given,
      submit,
      isDangerous: what === 'reject',
      problem: isTried ? problem : undefined,
    });
  const approval = isOwn
    ? html`<p>Another operator must approve what you proposed.</p>`
    : approve === undefined
      ? html`<p class="problem">What approving does is not known now, so nobody can approve it: look again later.</p>`
      : only(visit, 'approver', () => button('approve', approve, [], true));
  const end = `${isOwn ? 'Withdraw' : 'Reject'} the proposal: ${otherwise}`;
  return html`${approval}${only(visit, 'operator', () => button('reject', end, [reasonField], isOwn))}`;
}
