import {
  completionFlow,
  encodeHeader,
  findMobileOperator,
  jsonNumberPattern,
  mobileOperators,
  ORDINARY_NUMBER,
  type PaymentView,
  paymentOperations,
  readModuleText,
  rightOtps,
  type ServedCountryLetters,
  sampleCollection,
  samplePayout,
  servedCountries,
  testNumbers,
} from '@pesewa/contracts';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { curlOf, type Exchanged, type Sandbox } from '../sandbox.ts';
import { filters, form, problemOf } from '../view/form.ts';
import { copyable, copyButton, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { amount, plainAmount, state, time } from '../view/values.ts';
import { doOrShowAgain, only, orMissing, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { currenciesOf, readSettings } from './merchants.ts';

const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const flowWords = {
  link: 'payment link',
  stk: 'agreed on the phone',
  stkThenComplete: 'agreed on the phone, then completed',
  otp: 'completed by OTP',
};

/** What differs between the two kinds; names of fields are their own, because both forms are on one page. */
const kinds = {
  payouts: {
    title: 'Pay out',
    gateway: 'payout-gateway',
    amount: 'amount',
    through: ['country', 'Country and currency'],
    options: Object.entries(servedCountries).map(([code, { currency }]) => ({
      code,
      currency,
      words: `${regions.of(code)}, ${currency}`,
    })),
  },
  collections: {
    title: 'Collect',
    gateway: 'collection-gateway',
    amount: 'total',
    through: ['operator', 'Country, currency and mobile operator'],
    options: mobileOperators.flatMap(({ code, country, currency, flows: { highRisk, lowRisk } }) =>
      [...new Set([highRisk, lowRisk])].map((flow, index) => ({
        code: `${code}:${index + 1}`,
        currency,
        words: `${regions.of(country)}, ${currency}: ${code}, ${flowWords[flow.kind]}`,
      })),
    ),
  },
} as const;
type Kind = keyof typeof kinds;

const digitWords = new Map<string, string>([
  ...Object.entries(testNumbers),
  ['9999', `or any other: ${ORDINARY_NUMBER}`],
]);

/** Adds the sandbox: payments of a development stack's merchant by a click, with all that a merchant sees of them. */
export function addSandboxPages(routes: Routes, sandbox: Sandbox): void {
  routes.page('/sandbox', (visit) => showForms(visit, sandbox));
  for (const kind of ['payouts', 'collections'] as const) {
    routes.form(`/sandbox/${kind}`, (submission) =>
      doOrShowAgain(
        () => begin(submission, sandbox, kind),
        (problem) => showForms(submission, sandbox, { kind, problem, field: submission.field }),
      ),
    );
    routes.page(`/sandbox/${kind}/:reference`, (visit) => showPayment(visit, sandbox, kind));
  }
  routes.form('/sandbox/collections/:reference/completion', async (submission) => {
    requireOperator(submission);
    const begun = sandbox.find(submission.part('reference'));
    if (begun && 'operatorCode' in begun.request)
      await sandbox.collect(begun.request, 'complete-payin', submission.field('otp'));
    return { goTo: pathOf(['sandbox', 'collections', submission.part('reference')]) };
  });
}

/** No service asks for a role where a merchant pays, so it is asked for here. */
function requireOperator({ may }: Visit): void {
  if (!may('operator')) throw new RefusedError('to send payments takes the role operator', 403, 'role');
}

interface Failed {
  readonly kind: Kind;
  readonly problem: string;
  readonly field: Submission['field'];
}

async function showForms(
  visit: Visit,
  { merchant: { id, publicKey } }: Sandbox,
  failed?: Failed,
): Promise<Page> {
  const body = visit.query('body');
  const module = section('X-module for your body', moduleOf(body));
  const forms = async () => {
    const currencies = currenciesOf(await readSettings(visit, id));
    return (['payouts', 'collections'] as const).map((kind) =>
      sendForm(visit, { kind, id, currencies, failed }),
    );
  };
  const shown = html`<p>Sends payments as the merchant ${linkTo('merchant', id)}, with its public key ${copyable(publicKey)}. The last four digits of an account or number choose what the simulated rail does.</p>
<p>Its webhooks go to the simulator, which shows them here. To get them at an address of your own as well, start the stack with <code>npm start -- --webhooks-to http://localhost:8080</code>.</p>
${body === undefined ? nothing : module}${await part(forms())}${body === undefined ? module : nothing}`;
  return { title: 'Sandbox', body: shown };
}

/** The form of a kind, with what the merchant's wallets allow. */
function sendForm(
  visit: Visit,
  given: {
    readonly kind: Kind;
    readonly id: string;
    readonly currencies: readonly string[];
    readonly failed: Failed | undefined;
  },
): Html {
  const { kind, id, currencies, failed } = given;
  const {
    title,
    amount: sum,
    through: [name, label],
    options,
  } = kinds[kind];
  const last = failed?.kind === kind ? failed : undefined;
  const offered = options.filter(({ currency }) => currencies.includes(currency));
  const lacking = new Set(options.flatMap(({ currency }) => (currencies.includes(currency) ? [] : currency)));
  const ask = () =>
    form({
      csrf: visit.csrf,
      action: `/sandbox/${kind}`,
      hidden: { id: visit.newId().replace(/^cm/, 'sandbox') },
      problem: last?.problem,
      fields: [
        {
          name: sum,
          label: 'Amount',
          value: last ? last.field(sum) : '100',
          maxLength: 40,
          isRequired: true,
        },
        {
          name,
          label,
          value: last?.field(name),
          options: offered.map(({ code, words }) => [code, words] as const),
        },
      ],
      submit: 'Send, with these last four digits',
      choices: { name: 'digits', of: [...digitWords] },
    });
  const missing = [...lacking].map(
    (currency) =>
      html` ${link(pathOf(['merchants', id, 'changes', 'wallet'], { currency }), `Add one in ${currency}`)}.`,
  );
  return section(
    title,
    html`${lacking.size > 0 && html`<p class="empty">The merchant has no wallet in ${[...lacking].join(', ')}.${missing}</p>`}${only(visit, 'operator', ask)}`,
  );
}

function moduleOf(body: string | undefined): Html {
  const read = body === undefined ? undefined : readModuleText(body);
  const found = read?.ok
    ? facts([
        ['X-module', copyable(encodeHeader(read.value))],
        ['Base64 of', foreign(read.value)],
      ])
    : problemOf(read?.refusal);
  const label = 'Body of a collection request, as you send it';
  const field = { name: 'body', label, value: body, isLong: true, maxLength: 4_000 };
  return html`${found}${filters({ action: '/sandbox', label: 'X-module for your body', fields: [field] })}`;
}

async function begin(submission: Submission, sandbox: Sandbox, kind: Kind): Promise<string> {
  requireOperator(submission);
  const { field, newId } = submission;
  const {
    amount: sum,
    through: [name],
    options,
  } = kinds[kind];
  const [given = '', digits = '', option = ''] = [sum, 'digits', name].map(field);
  const text = plainAmount(given);
  if (!jsonNumberPattern.test(text)) throw new RefusedError(`${sum} must be a number, such as 100.50`, 422);
  if (!digitWords.has(digits) || !options.some(({ code }) => code === option))
    throw new RefusedError(`${name} must be one of the list, and the digits those of a button`, 422);
  const reference = `${field('id') ?? newId()}-${digits}`;
  const terms = { reference, amount: text, digits };
  const [code = '', transactionType] = option.split(':');
  if (sandbox.find(reference) === undefined) {
    if (kind === 'payouts') await sandbox.pay(samplePayout(option as ServedCountryLetters, terms));
    else await sandbox.collect(sampleCollection({ code, transactionType }, terms), 'payin');
  }
  return pathOf(['sandbox', kind, reference]);
}

async function showPayment(visit: Visit, sandbox: Sandbox, kind: Kind): Promise<Page> {
  const reference = visit.part('reference');
  const [standing, webhooks] = await Promise.all([
    part(standingOf(visit, sandbox, kind)),
    part(webhooksOf(visit, sandbox.received(reference))),
  ]);
  const gone = html`<p class="empty">The console has restarted since: what was sent is no longer shown.</p>`;
  const body = html`${section('Where it stands', standing)}${section('Webhooks, as they arrived', webhooks)}
${sandbox.find(reference)?.exchanges.map(exchanged) ?? gone}<p>${link('/sandbox', 'Send another payment')}</p>`;
  return { title: `Sandbox payment ${reference}`, body, everySeconds: 2 };
}

async function standingOf(visit: Visit, { merchant, find }: Sandbox, kind: Kind): Promise<Html> {
  const sent = visit.part('reference');
  const query = { reference: sent, merchant: merchant.id };
  const payment = await orMissing(
    visit.upstream.call(kinds[kind].gateway, paymentOperations.show, { query }),
  );
  if (!payment) return problemOf('No payment came of this request: its answer says why.');
  const { reference, status, step, currency, reason } = payment;
  const path = pathTo('payment', reference);
  return html`${facts([
    ['State', link(path, state(status))],
    ['Step', link(path, inWords(step))],
    ['Reason', reason === null ? undefined : foreign(reason)],
    ['Amount', amount(payment.amount, currency, path)],
    ['Our reference', copyable(reference, path)],
  ])}${completionForm(visit, payment, find(sent)?.request)}`;
}

type Request = NonNullable<ReturnType<Sandbox['find']>>['request'];

/** What is left to do by the merchant's hands, while it can be done. */
function completionForm(visit: Visit, payment: PaymentView, request: Request | undefined): Html {
  if (payment.kind === 'payout' || payment.status !== 'PENDING' || payment.completionClosed) return nothing;
  if (!request || !('operatorCode' in request)) return nothing;
  const mobileOperator = findMobileOperator(request.operatorCode);
  const flow = mobileOperator && completionFlow(mobileOperator, request.transactionType);
  if (flow?.kind !== 'otp' && flow?.kind !== 'stkThenComplete') return nothing;
  const hint = 'the one that the simulator sent its customer; any other is wrong';
  const fields =
    flow.kind === 'otp' ? [{ name: 'otp', label: 'OTP', value: rightOtps[flow.otpLength], hint }] : [];
  const action = pathOf(['sandbox', 'collections', request.reference, 'completion']);
  const submit = `Complete the collection of ${request.amount} ${request.currency}`;
  return only(visit, 'operator', () => form({ csrf: visit.csrf, action, fields, submit }));
}

function exchanged({ sent, answer }: Exchanged): Html {
  const curl = curlOf(sent);
  return section(
    `Request to ${new URL(sent.url).pathname}, and its answer`,
    html`<pre>${curl} ${copyButton(curl, 'the request as curl')}</pre><p>HTTP ${answer.status}</p><pre>${answer.text}</pre>`,
  );
}

async function webhooksOf({ times }: Visit, reading: ReturnType<Sandbox['received']>): Promise<Html> {
  const received = await reading;
  if (received.length === 0)
    return html`<p class="empty">No webhook has arrived yet: one comes when the payment reaches its final state.</p>`;
  return html`${received.map(({ at, headers, body, verified }) => {
    const id = headers['webhook-id'];
    const why = verified.ok ? nothing : `: ${verified.refusal.replace('signature.', '')}`;
    return html`${facts([
      ['Arrived', time(at, times)],
      ['Signature', html`${state(verified.ok ? 'verified' : 'failed')}${why}`],
      ['webhook-id', id === undefined ? foreign(id) : copyable(id, pathTo('delivery', id))],
      ...['webhook-timestamp', 'webhook-signature'].map((name) => [name, foreign(headers[name])] as const),
    ])}<pre>${body}</pre>`;
  })}`;
}
