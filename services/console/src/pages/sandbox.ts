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
import { curlOf, type Exchanged, type Sandbox, type SandboxRequest } from '../sandbox.ts';
import { filters, form, problemOf } from '../view/form.ts';
import { copyable, copyButton, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { amount, plainAmount, state, time } from '../view/values.ts';
import {
  choiceOf,
  doOrShowAgain,
  type Given,
  only,
  orMissing,
  part,
  type Routes,
  type Submission,
  type Visit,
} from '../visits.ts';
import { currenciesOf, readSettings } from './merchants.ts';
import { gateways } from './pauses.ts';

const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const flowWords = {
  link: 'payment link',
  stk: 'agreed on the phone',
  stkThenComplete: 'agreed on the phone, then completed',
  otp: 'completed by OTP',
};

/** A kind of payment, by the code of its option: `KE` pays out, `KESAF:1` collects by that mobile operator and type. */
const ways = [
  ...Object.entries(servedCountries).map(([code, { currency }]) => ({
    code,
    currency,
    words: `Pay out: ${regions.of(code)}, ${currency}`,
  })),
  ...mobileOperators.flatMap(({ code, country, currency, flows: { highRisk, lowRisk } }) =>
    [...new Set([highRisk, lowRisk])].map((flow, index) => ({
      code: `${code}:${index + 1}`,
      currency,
      words: `Collect: ${regions.of(country)}, ${currency}, ${code}, ${flowWords[flow.kind]}`,
    })),
  ),
];

const digitWords = new Map<string, string>([
  ...Object.entries(testNumbers),
  ['9999', `or any other: ${ORDINARY_NUMBER}`],
]);

/** Adds the sandbox: payments of a development stack's merchant by a click, with all that a merchant sees of them. */
export function addSandboxPages(routes: Routes, sandbox: Sandbox): void {
  const { find } = sandbox;
  routes.page('/sandbox', (visit) => showForms(visit, sandbox, () => undefined));
  routes.form('/sandbox', (submission) =>
    doOrShowAgain(
      () => begin(submission, sandbox),
      (payment) => showForms(submission, sandbox, submission.field, { payment }),
    ),
  );
  routes.form('/sandbox/receiver', (submission) =>
    doOrShowAgain(
      async () => {
        requireOperator(submission);
        await sandbox.setReceiver(submission.field('receiver') ?? null);
        return '/sandbox';
      },
      (receiver) => showForms(submission, sandbox, submission.field, { receiver }),
    ),
  );
  for (const kind of ['payouts', 'collections'] as const)
    routes.page(`/sandbox/${kind}/:reference`, (visit) => showPayment(visit, sandbox, kind));
  routes.form('/sandbox/collections/:reference/completion', async (submission) => {
    requireOperator(submission);
    const begun = find(submission.part('reference'));
    if (begun && 'operatorCode' in begun.request)
      await sandbox.collect(begun.request, 'complete-payin', submission.field('otp'));
    return { goTo: pathOf(['sandbox', 'collections', submission.part('reference')]) };
  });
}

/** No service asks for a role where a merchant pays, so it is asked for here. */
function requireOperator({ may }: Visit): void {
  if (!may('operator')) throw new RefusedError('to send payments takes the role operator', 403, 'role');
}

async function showForms(
  visit: Visit,
  sandbox: Sandbox,
  given: Given,
  problems: { readonly payment?: string; readonly receiver?: string } = {},
): Promise<Page> {
  const { id, publicKey } = sandbox.merchant;
  const body = visit.query('body');
  const send = section('Send a payment', await part(sendForm(visit, id, given, problems.payment)));
  const webhooks = section('Webhooks', await part(receiverForm(visit, sandbox, given, problems.receiver)));
  const module = section('X-module for your body', moduleOf(visit));
  const shown = html`<p>Sends payments as the merchant ${linkTo('merchant', id)}, with its public key ${copyable(publicKey)}. The last four digits of an account or number choose what the simulated rail does.</p>
${body === undefined ? [send, webhooks, module] : [module, send, webhooks]}`;
  return { title: 'Sandbox', body: shown };
}

/** Where its webhooks go beside the simulator. */
async function receiverForm(visit: Visit, sandbox: Sandbox, given: Given, problem?: string): Promise<Html> {
  const receiver = await sandbox.receiver();
  const field = {
    name: 'receiver',
    label: 'Address of your receiver',
    value: receiver,
    hint: 'such as http://localhost:8080; none if it is empty',
    maxLength: 2_000,
  };
  const action = { csrf: visit.csrf, action: '/sandbox/receiver', submit: 'Send its webhooks there' };
  const onward =
    receiver === undefined ? nothing : html`, and on to ${copyable(receiver)}, whose answers count`;
  return html`<p>They go to the simulator, which shows them with their payment${onward}.</p>${only(visit, 'operator', () => form({ ...action, problem, fields: [field], given }))}`;
}

/** What the merchant's wallets allow. */
async function sendForm(visit: Visit, id: string, given: Given, problem?: string): Promise<Html> {
  const currencies = currenciesOf(await readSettings(visit, id));
  const hasWallet = ({ currency }: (typeof ways)[number]) => currencies.includes(currency);
  const options = ways.filter(hasWallet).map(({ code, words }) => [code, words] as const);
  const lacking = new Set(ways.flatMap((way) => (hasWallet(way) ? [] : way.currency)));
  const add = (currency: string) =>
    html`${link(pathOf(['merchants', id, 'changes', 'wallet'], { currency }), `add one in ${currency}`)} `;
  const submit = 'Send, with these last four digits';
  const ask = () =>
    form({
      csrf: visit.csrf,
      action: '/sandbox',
      hidden: { id: visit.newId().replace(/^cm/, 'sandbox') },
      problem,
      fields: [
        { name: 'amount', label: 'Amount', value: '100', maxLength: 40, isRequired: true },
        { name: 'way', label: 'What', options },
      ],
      given,
      submit,
      buttons: html`<fieldset class="choices"><legend>${submit}</legend>${[...digitWords].map(([digits, words]) => html`<button type="submit" name="digits" value="${digits}"><code>${digits}</code> ${words}</button>`)}</fieldset>`,
    });
  return html`${only(visit, 'operator', ask)}${lacking.size > 0 && html`<p>In other currencies it has no wallet: ${[...lacking].map(add)}</p>`}`;
}

function moduleOf({ query }: Visit): Html {
  const body = query('body');
  const read = body === undefined ? undefined : readModuleText(body);
  const found = read?.ok
    ? facts([
        ['X-module', copyable(encodeHeader(read.value))],
        ['Base64 of', foreign(read.value)],
      ])
    : problemOf(read?.refusal);
  const label = 'Body of a collection request, as you send it';
  const field = { name: 'body', label, isLong: true, maxLength: 4_000 };
  return html`${found}${filters(query, { action: '/sandbox', label: 'X-module for your body', fields: [field] })}`;
}

async function begin(submission: Submission, sandbox: Sandbox): Promise<string> {
  requireOperator(submission);
  const { field, newId } = submission;
  const text = plainAmount(field('amount') ?? '');
  if (!jsonNumberPattern.test(text)) throw new RefusedError('amount must be a number, such as 100.50', 422);
  const digits = choiceOf(field, 'digits', [...digitWords.keys()]);
  const way = choiceOf(
    field,
    'way',
    ways.map(({ code }) => code),
  );
  const reference = `${field('id') ?? newId()}-${digits}`;
  const terms = { reference, amount: text, digits };
  const [code = '', transactionType] = way.split(':');
  const isPayout = transactionType === undefined;
  if (sandbox.find(reference) === undefined) {
    if (isPayout) await sandbox.pay(samplePayout(code as ServedCountryLetters, terms));
    else await sandbox.collect(sampleCollection({ code, transactionType }, terms), 'payin');
  }
  return pathOf(['sandbox', isPayout ? 'payouts' : 'collections', reference]);
}

async function showPayment(visit: Visit, sandbox: Sandbox, kind: keyof typeof gateways): Promise<Page> {
  const reference = visit.part('reference');
  const begun = sandbox.find(reference);
  const query = { reference, merchant: sandbox.merchant.id };
  const payment = orMissing(visit.upstream.call(gateways[kind], paymentOperations.show, { query }));
  const [standing, webhooks] = await Promise.all([
    part(payment.then((found) => standingOf(visit, found, begun?.request))),
    part(webhooksOf(visit, sandbox.received(reference))),
  ]);
  const gone = html`<p class="empty">The console has restarted since: what was sent is no longer shown.</p>`;
  const body = html`${section('Where it stands', standing)}${section('Webhooks, as they arrived', webhooks)}
${begun?.exchanges.map(exchanged) ?? gone}<p>${link('/sandbox', 'Send another payment')}</p>`;
  return { title: `Sandbox payment ${reference}`, body, everySeconds: 2 };
}

function standingOf(visit: Visit, payment: PaymentView | undefined, request?: SandboxRequest): Html {
  if (!payment) return problemOf('No payment came of this request: its answer says why.');
  const { reference, status, step, currency, reason } = payment;
  const path = pathTo('payment', reference);
  return html`${facts([
    ['State', link(path, state(status))],
    ['Step', link(path, inWords(step))],
    ['Reason', foreign(reason)],
    ['Amount', amount(payment.amount, currency, path)],
    ['Our reference', copyable(reference, path)],
  ])}${completionForm(visit, payment, request)}`;
}

/** What is left to do by the merchant's hands, while it can be done. */
function completionForm(visit: Visit, payment: PaymentView, request?: SandboxRequest): Html {
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

async function webhooksOf(
  { times, part: named }: Visit,
  reading: ReturnType<Sandbox['received']>,
): Promise<Html> {
  const received = await reading;
  if (received.length === 0)
    return html`<p class="empty">No webhook has arrived yet: one comes when the payment reaches its final state. ${link(pathOf(['webhooks'], { reference: named('reference') }), 'What was sent')}</p>`;
  return html`${received.map(({ at, headers, body, verified }) => {
    const id = headers['webhook-id'];
    const why = verified.ok ? nothing : `: ${verified.refusal.replace('signature.', '')}`;
    return html`${facts([
      ['Arrived', time(at, times)],
      ['Signature', html`${state(verified.ok ? 'verified' : 'failed')}${why}`],
      ['webhook-id', id && copyable(id, pathTo('delivery', id))],
      ...['webhook-timestamp', 'webhook-signature'].map((name) => [name, foreign(headers[name])] as const),
    ])}<pre>${body}</pre>`;
  })}`;
}
