import { type DecisionView, decisionOperations, referencePattern, statusOperations } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, ClientError, inWords, RefusedError, statedAccount } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form, problemOf } from '../view/form.ts';
import { dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathToEntry } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { age, amount, state, time, words } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { type Pause, pausedLine, readPauses, stopsRail } from './pauses.ts';
import { type Known, recordsOf, timelineOf } from './payment-records.ts';

const DECISIONS_SHOWN = 20;
/** A payment that is open for longer is overdue on the first page too. */
const ENDS_WITHIN_MS = 3_600_000;

const YOUNG_MS = 120_000;

/** Adds the page of one payment. */
export function addPaymentPage(routes: Routes): void {
  routes.page('/payments/:reference', (visit) => showPayment(visit));
}

/** The page of a payment; `problem` says why what was asked for was not done. */
export async function showPayment(visit: Visit, problem?: string): Promise<Page> {
  const known = await readPayment(visit);
  const waits = isOpen(known) && !isYoung(visit, known) ? await part(waitsFor(visit, known)) : nothing;
  const { reference, payment, reconciliation } = known;
  const { lines: _, ...raw } = known;
  const status = payment?.status ?? reconciliation?.status ?? 'not known to its gateway';
  return {
    title: `${reference.startsWith('co-') ? 'Collection' : 'Payout'} ${reference}: ${inWords(status)}`,
    body: [
      problemOf(problem),
      wrongOf(visit, known),
      waits,
      isOpen(known) ? section('What can be done', actionsOf(visit, known)) : nothing,
      section('Facts', factsOf(visit, known)),
      section('Timeline', timelineOf(visit, known)),
      recordsOf(visit, known),
      section(
        'Raw',
        html`<details><summary>All of it as JSON</summary><pre>${JSON.stringify(raw, null, 2)}</pre></details>`,
      ),
    ],
    ...(isOpen(known) && { everySeconds: isYoung(visit, known) ? 2 : 15 }),
  };
}

/** Everything known of the payment that the address names. */
export async function readPayment({ part, upstream: { timelines, list } }: Visit): Promise<Known> {
  const reference = part('reference');
  if (!referencePattern.test(reference)) throw new RefusedError(`${reference} is no reference`, 404);
  const [known, { items: decisions }] = await Promise.all([
    timelines.of({ reference, merchantId: undefined }),
    list('reconciler', decisionOperations.list, { reference }, DECISIONS_SHOWN).catch(unlessSilent),
  ]);
  return { ...known, decisions };
}

/** No decisions of a service that gives no answer: the timeline says that it gives none. */
function unlessSilent(error: unknown): { readonly items: readonly DecisionView[] } {
  if (error instanceof ClientError && !(error instanceof RefusedError)) return { items: [] };
  throw error;
}

const isOpen = ({ payment }: Known) => payment?.status === 'INITIALIZED' || payment?.status === 'PENDING';

/** Whether somebody may be waiting for its end right now. */
const isYoung = ({ times }: Visit, { payment }: Known) =>
  times.nowMs - Date.parse(payment?.acceptedAt ?? '') < YOUNG_MS;

/** What is wrong with it, if anything is. */
function wrongOf({ times }: Visit, known: Known): Html {
  const endsAt = new Date(Date.parse(known.payment?.acceptedAt ?? '') + ENDS_WITHIN_MS);
  const isLate = isOpen(known) && endsAt.getTime() < times.nowMs;
  const open = known.breaks.filter(({ status }) => status !== 'resolved');
  const givenUp = known.deliveries.filter(({ state: at }) => at === 'exhausted');
  const lines = [
    ...(isLate ? [html`It should have ended ${age(endsAt.toISOString(), times)} ago`] : []),
    ...open.map(({ id, kind, since, owner, detail }) => {
      const whose = owner === null ? 'nobody has it' : html`${foreign(owner)} has it`;
      return html`${linkTo('break', id, inWords(kind))} for ${age(since, times)}, ${whose}: ${words(detail, times)}`;
    }),
    ...givenUp.map(
      ({ id, reason }) => html`Webhook ${linkTo('delivery', id)} was given up: ${foreign(reason)}`,
    ),
    ...known.missing.map(({ service, why }) => html`What ${service} knows is missing here: ${why}`),
    ...known.cut.map((what) => html`There are more ${what} than are shown here`),
  ];
  if (lines.length === 0) return nothing;
  return section(
    'What is wrong',
    html`<ul class="tasks">${lines.map((line) => html`<li>${line}</li>`)}</ul>`,
  );
}

/** Why nothing goes on with an open payment: its rail is silent, or what has yet to be sent is paused. */
async function waitsFor(visit: Visit, { payment }: Known): Promise<Html> {
  if (!payment) return nothing;
  const { kind, rail, merchantId, step } = payment;
  const isUnsent = step === 'awaitingHold' || step === 'held';
  const [{ silent }, pauses] = await Promise.all([
    visit.upstream.call('reconciler', statusOperations.show, {}),
    isUnsent ? readPauses(visit, [`${kind}s`]) : [],
  ]);
  const stops = (one: Pause) => stopsRail(one, rail) || (one.scope === 'merchant' && one.name === merchantId);
  const lines = [
    ...(silent ?? [])
      .filter((one) => one.rail === rail)
      .map(
        ({ since, why }) =>
          html`<p>${linkTo('rail', rail)} has given no answer for ${age(since, visit.times)}: ${words(why, visit.times)}</p>`,
      ),
    ...pauses.filter(stops).map((one) => pausedLine(visit, one)),
  ];
  return lines.length === 0 ? nothing : section('What it waits for', html`${lines}`);
}

/** What can be done with an open payment, as far as is seen from here: its gateway and the reconciler decide. */
function actionsOf(visit: Visit, { reference, payment, reconciliation, breaks, decisions }: Known): Html {
  if (!payment) return nothing;
  const { kind, rail, step, earlierUnclear } = payment;
  const own = (name: string) => pathOf(['payments', reference, name]);
  const proposed = decisions.filter(({ status }) => status === 'proposed');
  const waiting = proposed.map(({ id, requestedBy, outcome, amount: received, currency }) => {
    const what = outcome ?? `received ${displayAmount(received, currency)}`;
    const who = requestedBy === visit.operator.name ? 'you' : foreign(requestedBy);
    return html`<p>${linkTo('decision', id, `“${what}”`)} was proposed by ${who}, and waits for an approver who did not propose it.</p>`;
  });
  const nextAt = reconciliation?.nextPollAt;
  const isDue = nextAt !== null && nextAt !== undefined && Date.parse(nextAt) <= visit.times.nowMs;
  const when = isDue ? 'was to be asked at' : 'is asked next at';
  const next = nextAt ? html`<p>${rail} ${when} ${time(nextAt, visit.times)}.</p>` : nothing;
  if (!visit.may('operator'))
    return html`${waiting}${next}<p>To ask the rail, to cancel and to propose take the role operator.</p>`;
  const isUnsent = kind === 'payout' && (step === 'awaitingHold' || step === 'held') && !earlierUnclear;
  const asksPeople = proposed.length === 0 && breakToDecide(kind, breaks) !== undefined;
  const money = displayAmount(payment.amount, payment.currency);
  const decide = kind === 'payout' ? 'Propose how it ended…' : 'Propose what the customer paid…';
  return html`${waiting}${next}<div class="actions">
${form({ csrf: visit.csrf, action: own('poll'), submit: `Ask ${rail} about it now` })}
${isUnsent && link(own('cancel'), `Cancel this payout of ${money}…`)}${asksPeople && link(own('decide'), decide)}</div>`;
}

/** How far an open payment is. */
export const stepText = (step: string): string =>
  step === 'unknown' ? 'no clear answer from the rail yet' : inWords(step);

function factsOf({ times }: Visit, { payment, entries }: Known): Html {
  if (!payment) return html`<p class="empty">Its gateway has no record of it.</p>`;
  const { merchantId, merchantReference, currency, status, step, reason, rail, attempts } = payment;
  const account = (name: string) => {
    const stated = `${name}:${currency}`;
    const own = entries.filter((one) => [one.debit, one.credit].map(statedAccount).includes(stated));
    return pathToEntry(stated, own.map(({ at }) => at).toSorted()[0] ?? payment.acceptedAt);
  };
  const wallet = account(`wallet:${merchantId}`);
  const batch = payment.kind === 'payout' ? payment.batchReference : null;
  const isEnded = step === 'ended';
  return facts([
    [
      'State',
      html`${state(status)}${isEnded ? nothing : html` ${stepText(step)}, open for ${age(payment.acceptedAt, times)}`}`,
    ],
    ['Reason', foreign(reason)],
    ['Amount', amount(payment.amount, currency, wallet)],
    ['Received', amount(payment.amountReceived, currency, wallet)],
    ['Fee', amount(payment.fee, currency, account('feeIncome'))],
    ['Rail fee', amount(payment.railFee, currency, account('railCost'))],
    ['Merchant', linkTo('merchant', merchantId)],
    ["Merchant's reference", foreign(merchantReference)],
    ['Batch', batch && link(pathOf(['search'], { q: batch }), html`<code>${batch}</code>`)],
    ['Rail', linkTo('rail', rail)],
    ['Mobile operator', payment.kind === 'collection' ? foreign(payment.operatorCode) : undefined],
    ['Accepted', time(payment.acceptedAt, times)],
    [
      'Attempts at the rail',
      attempts === 0 ? dash : html`${attempts}, the last ${time(payment.attemptedAt, times)}`,
    ],
  ]);
}
