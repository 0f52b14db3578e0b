import {
  type CallOf,
  type ChangeKind,
  changeOperations,
  dryRunOf,
  keyScopes,
  type TakenChangeView,
} from '@pesewa/contracts';
import { messageOf, RefusedError, settingLabel } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Field, form } from '../view/form.ts';
import { copyable, type Html, link, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts } from '../view/table.ts';
import { doOrShowAgain, type Outcome, type Routes, type Submission, type Visit } from '../visits.ts';
import { fieldChanges, readSettings } from './merchants.ts';

const PATH = '/merchants/:id/changes/:kind';

/** Changes of a merchant's settings: a form with what is set, what would change, and only then the change. */
export function addMerchantChangePages(routes: Routes): void {
  routes.page(PATH, (visit) => showChange(visit));
  routes.form(PATH, change);
}

/** A field whose value is what is set; `read` makes of a new text what the operation takes, and null takes a setting away. */
interface Question extends Field {
  readonly read?: (text: string | undefined) => unknown;
}

const numberOf = (text: string | undefined) =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : (text ?? null);
const listOf = (text = '') => text.split(/[\s,]+/).filter((one) => one !== '');

/** Builds a question about a setting. */
type Ask = (name: string, setting: string, hint?: string, more?: Partial<Question>) => Question;

const prices = ['payoutFee', 'collectionFee'].flatMap((fee) =>
  ['percent', 'fixed', 'min', 'max'].map((name) => `${fee}.${name}`),
);
const limits = Object.entries(changeOperations.limits.body.shape).filter(
  ([name]) => name !== 'reason' && name !== 'dryRun',
);
const isByCurrency = ([, schema]: (typeof limits)[number]) => schema.safeParse({}).success;
const NO_LIMIT = 'Empty: no limit';
const secretOptions = [
  ['', 'stays'],
  ['yes', 'make a new one'],
] as const;
const scopeOptions = [keyScopes.join(), ...keyScopes].map(
  (code) => [code, code.replace(',', ' and ')] as const,
);
const ADDRESSES = 'Separated by commas, such as 192.0.2.7, 198.51.100.0/24; empty: anywhere';

/** What is asked for a kind of change; a group of fields such as `perDayMax.GHS` is sent as one object. */
const questionsOf: Partial<Record<ChangeKind, (ask: Ask, currency?: string) => readonly Question[]>> = {
  limits: (ask, currency) =>
    limits
      .filter((limit) => isByCurrency(limit) === (currency !== undefined))
      .map(([name]) =>
        currency === undefined
          ? ask(name, `limits.${name}`, NO_LIMIT, { read: numberOf })
          : ask(`${name}.${currency}`, `limits.${name}.${currency}`, NO_LIMIT),
      ),
  wallet: (ask, currency = '') => [
    ask('currency', 'currency', 'Such as GHS', { value: currency, isRequired: true, maxLength: 3 }),
    ask('country', `wallets.${currency}.country`, 'Such as GHA', { isRequired: true }),
    ...prices.map((name) =>
      ask(name, `wallets.${currency}.${name}`, name.endsWith('percent') ? 'In percent, such as 1.5' : '', {
        read: (text) => text,
      }),
    ),
  ],
  webhooks: (ask) => [
    ask('payoutsUrl', 'webhooks.payoutsUrl', 'Empty: no webhooks'),
    ask('collectionsUrl', 'webhooks.collectionsUrl', 'Empty: no webhooks'),
    ask('rotateSecret', 'secret', '', { options: secretOptions, read: () => true }),
    ask('graceHours', 'webhooks.graceHours', 'Only with a new secret; empty: 24', { read: numberOf }),
  ],
  access: (ask) => [ask('allowedAddresses', 'allowedAddresses', ADDRESSES, { isLong: true, read: listOf })],
  'add-key': (ask) => [
    ask('scopes', 'for', '', { options: scopeOptions, isRequired: true, read: listOf }),
    ask('expiresAt', 'expires', 'Such as 2027-01-31T00:00:00Z; empty: never'),
  ],
  'remove-key': (ask) => [ask('keyHash', 'key', 'The beginning of its SHA-256', { isRequired: true })],
  suspend: () => [],
  resume: () => [],
};

/** What the operation takes: the fields that must be there, and those that are not as they were set. */
function bodyOf(questions: readonly Question[], given: Visit['query']): Readonly<Record<string, unknown>> {
  const groups = Map.groupBy(questions, ({ name }) => name.split('.', 1)[0] ?? name);
  const valueOf = ({ name, read = (text) => text ?? null }: Question) => read(given(name));
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

async function showChange(visit: Visit, refused?: string): Promise<Page> {
  const { query, may, part } = visit;
  const [id, kind] = [part('id'), part('kind')];
  const questionsFor = questionsOf[kind as ChangeKind];
  if (!questionsFor) throw new RefusedError(`there is no form for ${kind}`, 404, 'not_found');
  const title = titleOf(kind, id);
  if (!may('admin')) return { title, body: html`<p class="empty">It takes an admin to change settings.</p>` };
  const settings = await readSettings(visit);
  const questions = questionsFor(
    (name, setting, hint, more) => ({
      name,
      label: settingLabel(setting),
      value: settings.get(setting)?.value,
      ...(hint && { hint }),
      ...more,
    }),
    query('currency'),
  );
  const isShown = query('shown') !== undefined;
  const reason = { name: 'reason', label: 'Reason', maxLength: 200 };
  const fields = [...questions, reason].map((one) => (isShown ? { ...one, value: query(one.name) } : one));
  const currency = questions.some(({ name }) => name === 'currency') ? undefined : query('currency');
  const hidden = { shown: 'yes', ...(currency !== undefined && { currency }) };
  const shown = isShown ? await preview(visit, bodyOf(questions, query), { fields, hidden }) : undefined;
  const draft = form({
    action: pathOf(['merchants', id, 'changes', kind]),
    hidden,
    fields,
    submit: 'Show what would change',
    problem: refused ?? shown?.problem,
  });
  return {
    title,
    body: html`${shown?.body}${section('The change', draft)}<p>${link(pathOf(['merchants', id]), `Back to ${id}`)}</p>`,
  };
}

interface Preview {
  readonly body?: Html;
  readonly problem?: string;
}

/** What would change, and the button that does it; what is sent then is what was shown. */
async function preview(
  visit: Visit,
  body: Readonly<Record<string, unknown>>,
  {
    fields,
    hidden,
  }: { readonly fields: readonly Field[]; readonly hidden: Readonly<Record<string, string>> },
): Promise<Preview> {
  const [id, kind] = [visit.part('id'), visit.part('kind')];
  const operation = operationOf(kind);
  const isAtOnce = !operation.summary.startsWith('Proposes');
  try {
    const dryRun = dryRunOf(operation);
    const asked = { parameters: { merchantId: id }, body: { ...body, dryRun: true } } as CallOf<
      typeof dryRun
    >;
    const foreseen = await visit.upstream.call('ledger', dryRun, asked);
    const answers = Object.fromEntries(fields.map(({ name, value = '' }) => [name, value]));
    const confirm = form({
      csrf: visit.csrf,
      action: pathOf(['merchants', id, 'changes', kind]),
      hidden: { ...answers, ...hidden, body: JSON.stringify(body) },
      submit: titleOf(kind, id),
      isDangerous: isAtOnce,
    });
    const makesSecret = kind === 'add-key' || 'rotateSecret' in body;
    const when = isAtOnce ? 'It applies at once.' : 'Nothing changes before another operator approves it.';
    return {
      body: section(
        'What would change',
        html`${fieldChanges(foreseen.fields)}<p>${when}${makesSecret ? ' What is secret is made then, and shown once.' : ''}</p>${confirm}`,
      ),
    };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { problem: messageOf(error) };
  }
}

/** Does what was shown; keys and secrets that were made for it are shown only now. */
function change(submission: Submission): Promise<Outcome> {
  const { upstream, field, part } = submission;
  const [id, kind] = [part('id'), part('kind')];
  return doOrShowAgain(
    async () => {
      const body = JSON.parse(field('body') ?? '{}') as CallOf<Any>['body'];
      const asked = { parameters: { merchantId: id }, body } as CallOf<Any>;
      const taken = await upstream.call('ledger', operationOf(kind), asked);
      const next = taken.status === 'applied' ? ['merchants', id] : ['approvals', 'settings', taken.id];
      return Object.keys(taken.made).length === 0 ? pathOf(next) : secretsOf(taken, pathOf(next));
    },
    (problem) => showChange({ ...submission, query: field }, problem),
  );
}

function secretsOf({ made, merchantId }: TakenChangeView, next: string): Page {
  const secrets = [
    ['Public key', made.publicKey],
    ['Webhook secret', made.webhookSecret],
    ['Signing secret', made.signingSecret],
  ] as const;
  const shown = facts(secrets.map(([name, secret]) => [name, secret && copyable(secret)]));
  const body = html`<p class="problem" role="alert"><strong>This is shown only now.</strong> Copy it and hand it to the merchant in a safe way.</p>
${shown}<p>It works once another operator approves the change: ${link(next, 'show the change')}.</p>`;
  return { title: `Made for ${merchantId}`, body };
}
