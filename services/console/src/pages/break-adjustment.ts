import { breakChanges, orderOperations, proposalOperations, type ShownBreakView } from '@pesewa/contracts';
import { amountProblem, formatAmount, parsePositiveAmount } from '@pesewa/kernel';
import {
  correctionOf,
  describeOrder,
  type ForeseenOrder,
  foreseeOrder,
  inWords,
  mayBeBooked,
  nextCommandId,
  type OrderRequest,
  pendingOf,
  placeAdjustment,
  RefusedError,
  reasonForBreak,
  whyWrongSign,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { form, problemOf } from '../view/form.ts';
import { type Content, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts } from '../view/table.ts';
import { addChange, type Given, only, part, type Routes, type Submission, type Visit } from '../visits.ts';
import { findBreak, nameOf } from './break.ts';
import { breakPath } from './breaks.ts';

const REASON_LENGTH_MAX = 200;

/** Adds the page on which a break is corrected by an order to the ledger, which another operator approves. */
export function addBreakAdjustmentPage(routes: Routes): void {
  addChange(routes, '/breaks/:id/adjust', showAdjustment, order);
  routes.form('/breaks/:id/withdraw', withdraw);
}

async function withdraw({ upstream, field, part: named }: Submission) {
  const id = named('id');
  const body = { commandId: field('commandId') ?? '' };
  await upstream.call('reconciler', breakChanges.withdraw, { parameters: { id }, body });
  return { goTo: breakPath(id) };
}

async function showAdjustment(visit: Visit, read: Given, problem?: string): Promise<Page> {
  const found = await findBreak(visit);
  const { id } = found;
  const room = REASON_LENGTH_MAX - reasonForBreak('', id).length;
  const written = (name: string, label: string) => ({ name, label, value: read(name) });
  const asked = form({
    action: pathOf(['breaks', id, 'adjust']),
    submit: 'Show what would happen',
    fields: [
      {
        ...written('amount', 'Amount'),
        isRequired: true,
        hint: 'with its sign: + where our float, or the wallet, gets more',
      },
      { ...written('merchant', "Instead of our float, a merchant's wallet"), hint: 'the id of the merchant' },
      ...(found.currency === null ? [written('currency', 'Currency')] : []),
      {
        ...written('explanation', 'Why'),
        isRequired: true,
        maxLength: room,
        hint: 'without names or numbers of people',
      },
    ],
  });
  const isAsked = read('amount') !== undefined && read('explanation') !== undefined;
  const why = await whyNot(visit, found);
  const foreseen =
    why || !isAsked ? nothing : section('What would happen', await part(foresee(visit, read, found)));
  const body = html`<p>An order corrects our books against suspense. Another operator approves it; once it is booked, the break is resolved.</p>
${problemOf(problem)}${only(visit, 'operator', () => why || html`${asked}${foreseen}`)}<p>${link(breakPath(id), 'Back to the break')}</p>`;
  return { title: `Correct our books: ${nameOf(found)}`, body };
}

/** Why no further order can be placed, and what can be done about the one that was; undefined if one can. */
async function whyNot(visit: Visit, found: ShownBreakView): Promise<Content> {
  const { upstream, csrf, times } = visit;
  const pending = pendingOf(found);
  if (pending === undefined)
    return found.status === 'resolved' && html`<p>The break is resolved: reopen it first.</p>`;
  const { commandId, amount, merchantId } = pending;
  const placed = await upstream
    .call('ledger', orderOperations.show, { parameters: { commandId } })
    .catch((error: unknown) => {
      if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    });
  const terms = { amount: amount.replace(/^(?=\d)/, '+'), merchant: merchantId ?? '' };
  const again = { ...terms, commandId, explanation: found.explanation ?? '', version: String(found.version) };
  const act = (verb: string, hidden: Readonly<Record<string, string>>, submit: string) =>
    form({ csrf, action: pathOf(['breaks', found.id, verb]), hidden, submit });
  const order = link(pathOf(['approvals', 'orders', commandId]), commandId);
  if (!placed)
    return html`<p>The order ${commandId} was noted, and never reached the ledger.</p>${act('adjust', again, 'Ask for it again')}`;
  if (mayBeBooked(placed, times.nowMs))
    return html`<p>The order ${order} waits already: it must be approved, or rejected, first.</p>`;
  return html`<p>The order ${order} (${inWords(placed.status)}) will never be booked.</p>${act('withdraw', { commandId }, 'Free the break from this order')}`;
}

/** The order, and the form that places it. */
async function foresee(visit: Visit, read: Given, found: ShownBreakView): Promise<Html> {
  const request = requestOf(read, found);
  const wrong = whyWrongSign(found, request);
  const { lines, isRefused } = await foreseeOrder(visit.upstream, request);
  const what = describeOrder({ ...request, ...request.account });
  const place = form({
    csrf: visit.csrf,
    action: pathOf(['breaks', found.id, 'adjust']),
    hidden: {
      commandId: nextCommandId(found),
      version: String(found.version),
      ...Object.fromEntries(
        ['amount', 'merchant', 'currency', 'explanation'].map((name) => [name, read(name) ?? '']),
      ),
    },
    submit: `Ask for this order: ${what}`,
  });
  return html`<p>${what}</p>${linesOf(lines)}${wrong === undefined ? nothing : problemOf(`amount: ${wrong}`)}${isRefused || wrong !== undefined ? nothing : place}`;
}

/** What an order would change, with its warnings. */
export function linesOf(lines: ForeseenOrder['lines']): Html {
  const values = lines.flatMap((line) =>
    typeof line === 'string' ? [] : [[`${line[0]} ${line[1]}`, line[2]] as const],
  );
  const warnings = lines.filter((line) => typeof line === 'string');
  return html`${facts(values)}${warnings.map((one) => html`<p class="problem">${one}</p>`)}`;
}

function requestOf(read: Given, found: ShownBreakView): OrderRequest {
  const currency = found.currency ?? read('currency')?.toUpperCase() ?? '';
  const text = read('amount') ?? '';
  const wrong = (why: string) => new RefusedError(why, 422);
  if (!/^[+-]/.test(text))
    throw wrong('amount: write + or - before it, such as +12.50: it says where the money goes');
  const sum = parsePositiveAmount(text.slice(1), currency);
  if (!sum.ok) throw wrong(`amount: ${text} ${amountProblem(sum.refusal, currency)}`);
  const merchantId = read('merchant');
  if (merchantId === undefined && found.rail === null)
    throw wrong('merchant: the break is of no rail: name the merchant');
  const minor = text.startsWith('-') ? -sum.value.minor : sum.value.minor;
  const account = merchantId === undefined ? { rail: found.rail ?? '' } : { merchantId };
  return correctionOf(account, currency, { minor, text: formatAmount(sum.value.minor, currency) });
}

async function order(submission: Submission): Promise<string> {
  const { upstream, field } = submission;
  const found = await findBreak(submission);
  const request = requestOf(field, found);
  const { kind, account, currency, amount, direction } = request;
  const explanation = field('explanation') ?? '';
  const commandId = field('commandId') ?? '';
  const given = { commandId, request, explanation, version: Number(field('version')) };
  const body = {
    ...account,
    commandId,
    currency,
    amount,
    direction,
    reason: reasonForBreak(explanation, found.id),
  };
  await placeAdjustment(upstream, found.id, given, () =>
    upstream.call('ledger', proposalOperations[kind], { body: body as never }),
  );
  return breakPath(found.id);
}
