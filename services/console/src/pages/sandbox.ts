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
import { facts } from '../view/table.ts';
import { amount, state, time } from '../view/values.ts';
import { type Outcome, part, type Routes, type Submission, type Visit } from '../visits.ts';

const regions = new Intl.DisplayNames(['en'], { type: 'region' });
const place = (country: string, currency: string) => `${regions.of(country)}, ${currency}`;
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
    through: 'country',
    options: Object.entries(servedCountries).map(([code, { currency }]) => [code, place(code, currency)]),
  },
  collections: {
    title: 'Collect',
    gateway: 'collection-gateway',
    amount: 'total',
    through: 'operator',
    options: mobileOperators.flatMap(({ code, country, currency, flows: { highRisk, lowRisk } }) =>
      [...new Set([highRisk, lowRisk])].map((flow, index) => [
        `${code}:${index + 1}`,
        `${place(country, currency)}: ${code}, ${flowWords[flow.kind]}`,
      ]),
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
    routes.form(`/sandbox/${kind}`, (submission) => begin(submission, sandbox, kind));
    routes.page(`/sandbox/${kind}/:reference`, (visit) => showPayment(visit, sandbox, kind));
  }
  routes.form('/sandbox/collections/:reference/completion', async ({ part: partOf, field }) => {
    const begun = sandbox.find(partOf('reference'));
    if (begun && 'operatorCode' in begun.request)
      await sandbox.collect(begun.request, 'complete-payin', field('otp'));
    return { goTo: pathOf(['sandbox', 'collections', partOf('reference')]) };
  });
}

interface Failed {
  readonly kind: Kind;
  readonly problem: string;
  readonly field: Submission['field'];
}

function showForms(visit: Visit, { merchant: { id, publicKey } }: Sandbox, failed?: Failed): Page {
  const body = visit.query('body');
  const module = section('X-module for your body', moduleOf(body));
  const shown = html`<p>Sends payments as the merchant ${link(pathOf(['merchants', id]), id)}, with its public key ${copyable(publicKey)}. The last four digits of an account or number choose what the simulated rail does.</p>
${body === undefined ? nothing : module}${(['payouts', 'collections'] as const).map((kind) => sendForm(visit, kind, failed))}${body === undefined ? module : nothing}`;
  return { title: 'Sandbox', body: shown };
}

function sendForm({ csrf, newId }: Visit, kind: Kind, failed?: Failed): Html {
  const { title, amount: sum, through, options } = kinds[kind];
  const last = failed?.kind === kind ? failed : undefined;
  const label = kind === 'payouts' ? 'Country and currency' : 'Country, currency and mobile operator';
  const fields = [
    { name: sum, label: 'Amount', value: last ? last.field(sum) : '100', maxLength: 40, isRequired: true },
    {
      name: through,
      label,
      value: last?.field(through),
      options: options.map(([code = '', words = '']) => [code, words] as const),
    },
  ];
  const hidden = { id: newId().replace(/^cm/, 'sandbox') };
  const choices = { name: 'digits', of: [...digitWords] };
  const submit = 'Send, with these last four digits';
  const action = `/sandbox/${kind}`;
  return section(title, form({ csrf, action, hidden, problem: last?.problem, fields, submit, choices }));
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

async function begin(submission: Submission, sandbox: Sandbox, kind: Kind): Promise<Outcome> {
  const { field, newId } = submission;
  const { amount: sum, through } = kinds[kind];
  const again = (problem: string): Outcome => ({
    again: showForms(submission, sandbox, { kind, problem, field }),
    status: 422,
  });
  const [text = '', digits = '', option = ''] = [field(sum), field('digits'), field(through)];
  if (!jsonNumberPattern.test(text)) return again(`${sum} must be a number, such as 100.50`);
  if (!digitWords.has(digits) || !kinds[kind].options.some(([code]) => code === option))
    return again(`${through} must be one of the list, and the digits those of a button`);
  const reference = `${field('id') ?? newId()}-${digits}`;
  const terms = { reference, amount: text, digits };
  if (sandbox.find(reference) === undefined) {
    if (kind === 'payouts') await sandbox.pay(samplePayout(option as ServedCountryLetters, terms));
    else {
      const [code = '', transactionType] = option.split(':');
      await sandbox.collect(sampleCollection({ code, transactionType }, terms), 'payin');
    }
  }
  return { goTo: pathOf(['sandbox', kind, reference]) };
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
  const payment = await visit.upstream
    .call(kinds[kind].gateway, paymentOperations.show, { query })
    .catch((error: unknown) => {
      if (error instanceof RefusedError && error.status === 404) return undefined;
      throw error;
    });
  if (!payment) return problemOf('No payment came of this request: its answer says why.');
  const { reference, status, step, currency, reason } = payment;
  const path = pathOf(['payments', reference]);
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
function completionForm({ csrf }: Visit, payment: PaymentView, request: Request | undefined): Html {
  if (payment.kind === 'payout' || payment.status !== 'PENDING' || payment.completionClosed) return nothing;
  if (!request || !('operatorCode' in request)) return nothing;
  const mobileOperator = findMobileOperator(request.operatorCode);
  const flow = mobileOperator && completionFlow(mobileOperator, request.transactionType);
  if (flow?.kind !== 'otp' && flow?.kind !== 'stkThenComplete') return nothing;
  const hint = 'the one that the simulator sent its customer; any other is wrong';
  const otp =
    flow.kind === 'otp' ? [{ name: 'otp', label: 'OTP', value: rightOtps[flow.otpLength], hint }] : [];
  const action = pathOf(['sandbox', 'collections', request.reference, 'completion']);
  const submit = `Complete the collection of ${request.amount} ${request.currency}`;
  return form({ csrf, action, fields: otp, submit });
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
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    return html`${facts([
      ['Arrived', time(at, times)],
      [
        'Signature',
        verified.ok
          ? state('verified')
          : html`${state('failed')}: ${verified.refusal.replace('signature.', '')}`,
      ],
      ['webhook-id', id === undefined ? foreign(id) : copyable(id, pathOf(['webhooks', 'deliveries', id]))],
      ['webhook-timestamp', foreign(timestamp)],
      ['webhook-signature', foreign(signature)],
    ])}<pre>${body}</pre>`;
  })}`;
}
