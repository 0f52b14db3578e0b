import {
  type CallOf,
  type ChangeKind,
  changeOperations,
  dryRunOf,
  keyScopes,
  type TakenChangeView,
  wantedShapes,
} from '@pesewa/contracts';
import { parseAnswer, RefusedError, settingLabel } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import type { Field } from '../view/form.ts';
import { copyable, link } from '../view/html.ts';
import type { Page } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { plainAmount } from '../view/values.ts';
import { type Given, momentOf, type Routes, type Submission, type Visit } from '../visits.ts';
import { fieldChanges, readSettings } from './merchants.ts';

/** Changes of a merchant's settings: a form with what is set, what would change, and only then the change. */
export function addMerchantChangePages(routes: Routes): void {
  addChange(routes, '/merchants/:id/changes/:kind', ask, change);
}

/** A field whose value is what is set; `read` makes of a new text what the operation takes, and null takes a setting away. */
interface Question extends Field {
  readonly read?: (text: string | undefined) => unknown;
}

const plainOf = (text: string | undefined) => (text === undefined ? null : plainAmount(text));
const numberOf = (text: string | undefined) => {
  const plain = plainOf(text);
  return plain !== null && /^\d{1,9}$/.test(plain) ? Number(plain) : plain;
};
const listOf = (text = '') => text.split(/[\s,]+/).filter((one) => one !== '');

/** Builds a question about a setting. */
type Ask = (name: string, setting: string, hint?: string, more?: Partial<Question>) => Question;

const prices = ['payoutFee', 'collectionFee'].flatMap((fee) =>
  ['percent', 'fixed', 'min', 'max'].map((name) => `${fee}.${name}`),
);
const limits = Object.entries(wantedShapes.limits);
const isByCurrency = ([, schema]: (typeof limits)[number]) => schema.safeParse({}).success;
const NO_LIMIT = 'Empty: no limit';
const scopeOptions = [keyScopes.join(), ...keyScopes].map(
  (code) => [code, code.replace(',', ' and ')] as const,
);
const ADDRESSES = 'Separated by commas, such as 192.0.2.7, 198.51.100.0/24; empty: anywhere';

/** What is asked for a kind of change; a group of fields such as `perDayMax.GHS` is sent as one object. */
const questionsOf: Partial<
  Record<string, (ask: Ask, visit: Visit, currency?: string) => readonly Question[]>
> = {
  limits: (ask, _, currency) =>
    limits
      .filter((limit) => isByCurrency(limit) === (currency !== undefined))
      .map(([name]) =>
        currency === undefined
          ? ask(name, `limits.${name}`, NO_LIMIT, { read: numberOf })
          : ask(`${name}.${currency}`, `limits.${name}.${currency}`, NO_LIMIT),
      ),
  wallet: (ask, _, currency = '') => [
    ask('currency', 'currency', 'Such as GHS', { value: currency, isRequired: true, maxLength: 3 }),
    ask('country', `wallets.${currency}.country`, 'Such as GHA', { isRequired: true }),
    ...prices.map((name) =>
      ask(name, `wallets.${currency}.${name}`, name.endsWith('percent') ? 'In percent, such as 1.5' : '', {
        read: (text) => plainOf(text) ?? undefined,
      }),
    ),
  ],
  webhooks: (ask) => [
    ask('payoutsUrl', 'webhooks.payoutsUrl', 'Empty: no webhooks'),
    ask('collectionsUrl', 'webhooks.collectionsUrl', 'Empty: no webhooks'),
    ask('rotateSecret', 'secret', '', {
      options: [
        ['', 'stays'],
        ['yes', 'make a new one'],
      ],
      read: () => true,
    }),
    ask('graceHours', 'webhooks.graceHours', 'Only with a new secret; empty: 24', { read: numberOf }),
  ],
  access: (ask) => [ask('allowedAddresses', 'allowedAddresses', ADDRESSES, { isLong: true, read: listOf })],
  'add-key': (ask, visit) => [
    ask('scopes', 'for', '', { options: scopeOptions, isRequired: true, read: listOf }),
    ask('expiresAt', 'expires', `In ${visit.times.zone}, such as 31/01/2027; empty: never`, {
      read: (text) => momentOf(visit, () => text, 'expiresAt'),
    }),
  ],
  'remove-key': (ask) => [ask('keyHash', 'key', 'The beginning of its SHA-256', { isRequired: true })],
  suspend: () => [],
  resume: () => [],
};

/** What the operation takes: the fields that must be there, and those that are not as they were set. */
function bodyOf(questions: readonly Question[], given: Given): Readonly<Record<string, unknown>> {
  const groups = Map.groupBy(questions, ({ name }) => name.split('.', 1)[0] ?? name);
  const valueOf = ({ name, read = plainOf }: Question) => read(given(name));
  const entries = [...groups].flatMap(([group, own]) => {
    // The only question of a form is what the form is for.
    const isWanted =
      groups.size === 1 || own.some(({ name, value, isRequired }) => isRequired || given(name) !== value);
    if (!isWanted) return [];
    const parts = own.map((one) => [one.name.slice(group.length + 1), valueOf(one)] as const);
    return [[group, parts[0]?.[0] === '' ? parts[0][1] : Object.fromEntries(parts)] as const];
  });
  const reason = given('reason');
  return { ...Object.fromEntries(entries), ...(reason !== undefined && { reason }) };
}

// What a kind takes is read by the service's schema for it.
type Any = (typeof changeOperations)['limits'];
const operationOf = (kind: string) => changeOperations[kind as ChangeKind] as unknown as Any;

/** What a change does, such as `Suspend demo at once`. */
function titleOf(kind: string, id: string): string {
  const [verb, ...what] = operationOf(kind).summary.split(' ');
  const title = `${verb?.slice(0, -1)} ${what.join(' ')}`;
  const named = title.replace(/\ba (suspended )?merchant\b/, id);
  return named === title ? `${title}, for ${id}` : named;
}

/** The merchant, and the kind of change that its form is for. */
function namedIn({ part }: Visit) {
  const [id, kind] = [part('id'), part('kind')];
  const questionsFor = Object.hasOwn(questionsOf, kind) ? questionsOf[kind] : undefined;
  if (questionsFor) return { id, kind, questionsFor };
  throw new RefusedError(`there is no form for ${kind}`, 404, 'not_found');
}

async function ask(visit: Visit, given: Given): Promise<Change> {
  const { id, kind, questionsFor } = namedIn(visit);
  const change = {
    title: titleOf(kind, id),
    role: 'admin' as const,
    back: [pathTo('merchant', id), `Back to ${id}`] as const,
  };
  if (!visit.may('admin')) return change;
  const settings = await readSettings(visit, id);
  const currency = given('currency');
  const questions = questionsFor(
    (name, setting, hint, more) => ({
      name,
      label: settingLabel(setting),
      value: settings.get(setting)?.value,
      ...(hint && { hint }),
      ...more,
    }),
    visit,
    currency,
  );
  const isAsked = questions.some(({ name }) => name === 'currency');
  return {
    ...change,
    fields: [...questions, { name: 'reason', label: 'Reason', maxLength: 200 }],
    hidden: isAsked ? {} : { currency },
    foresee: () => foresee(visit, bodyOf(questions, given)),
  };
}

/** What would change; what is sent then is what was shown, once. */
async function foresee(visit: Visit, body: Readonly<Record<string, unknown>>): Promise<Foreseen> {
  const { id, kind } = namedIn(visit);
  const operation = operationOf(kind);
  const isAtOnce = !operation.summary.startsWith('Proposes');
  const dryRun = dryRunOf(operation);
  const asked = { parameters: { merchantId: id }, body: { ...body, dryRun: true } } as CallOf<typeof dryRun>;
  const { fields } = await visit.upstream.call('ledger', dryRun, asked);
  const when = isAtOnce ? 'It applies at once.' : 'Nothing changes before another operator approves it.';
  const secret = makesSecret(kind, body)
    ? ' What is secret is made as you propose it, and shown once: its SHA-256 is not the one here.'
    : '';
  return {
    shown: html`${fieldChanges(fields, visit.times)}<p>${when}${secret}</p>`,
    submit: titleOf(kind, id),
    isDangerous: isAtOnce,
    hidden: { body: JSON.stringify({ ...body, changeId: visit.newId().replace(/^cm/, 'sc') }) },
  };
}

const makesSecret = (kind: string, body: object): boolean => kind === 'add-key' || 'rotateSecret' in body;

/** Does what was shown; keys and secrets that were made for it are shown only now. */
async function change(submission: Submission): Promise<string | Page> {
  const { id, kind } = namedIn(submission);
  const body = readBody(submission.field('body'));
  const asked = { parameters: { merchantId: id }, body } as CallOf<Any>;
  const taken = await submission.upstream.call('ledger', operationOf(kind), asked);
  if (makesSecret(kind, body)) return secretsOf(taken);
  return taken.status === 'applied' ? pathTo('merchant', id) : pathTo('setting', taken.id);
}

function readBody(text = ''): object {
  const read = parseAnswer(text);
  if (typeof read === 'object' && read !== null) return read;
  throw new RefusedError('what was shown did not arrive: look at it again', 422);
}

function secretsOf({ id, made, merchantId }: TakenChangeView): Page {
  const { publicKey, webhookSecret } = made;
  const path = pathTo('setting', id);
  if ((publicKey ?? webhookSecret) === undefined) {
    const body = html`<p class="problem" role="alert"><strong>This was asked for already.</strong> What is secret was shown then, and is not shown again. If nobody copied it, ${link(path, 'withdraw the change')} and ask for another one.</p>`;
    return { title: `Asked for ${merchantId} already`, body };
  }
  const shown = facts([
    ['Public key', publicKey && copyable(publicKey)],
    ['Webhook secret', webhookSecret && copyable(webhookSecret)],
  ]);
  const body = html`<p class="problem" role="alert"><strong>This is shown only now.</strong> Copy it and hand it to the merchant in a safe way.</p>
${shown}<p>It works once another operator approves the change: ${link(path, 'show the change')}.</p><p>${linkTo('merchant', merchantId, `Back to ${merchantId}`)}</p>`;
  return { title: `Made for ${merchantId}`, body };
}
