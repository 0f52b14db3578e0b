import {
  describeProblem,
  firstProblem,
  type OrderKindName,
  type OrderView,
  proposalOperations,
  REASON_LENGTH_MAX,
  type ShownBreakView,
} from '@pesewa/contracts';
import { amountProblem, displayAmount, formatAmount, parsePositiveAmount } from '@pesewa/kernel';
import {
  correctionId,
  correctionOf,
  describeOrder,
  foreseeOrder,
  minorOf,
  type OrderRequest,
  ordersFor,
  pendingOf,
  RefusedError,
  takesAway,
  whyUncorrectable,
  whyWrongSign,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import type { Field } from '../view/form.ts';
import { type Content, type Html, link, pathOf } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { plainAmount, words } from '../view/values.ts';
import type { Given, Routes, Submission, Visit } from '../visits.ts';
import { findBreak, nameOf } from './break.ts';

type Order = Pick<OrderView, 'kind' | 'merchantId' | 'rail' | 'currency' | 'amount' | 'direction' | 'reason'>;

const kinds = Object.keys(proposalOperations) as readonly OrderKindName[];

/** Adds the pages on which orders of money are proposed: any order, and one that corrects a break. */
export function addOrderPages(routes: Routes): void {
  addChange(routes, '/ledger/orders/new', ask, propose);
  addChange(routes, '/breaks/:id/adjust', askToCorrect, correct);
}

/** Links to the forms for orders that may concern an account, filled in as far as it is known. */
export function orderLinks(
  { may }: Visit,
  about: Partial<Pick<Order, 'merchantId' | 'rail' | 'currency'>> = {},
): Html {
  if (!may('operator')) return html`<p class="empty">It takes an operator to propose orders of money.</p>`;
  const { merchantId, rail } = about;
  const fitting = kinds.filter((kind) =>
    'merchantId' in shapeOf(kind) ? rail === undefined : merchantId === undefined,
  );
  return html`<p class="actions">${fitting.map((kind) => link(pathOf(['ledger', 'orders', 'new'], { kind, ...about }), titleOf(kind)))}</p>`;
}

const titleOf = (kind: OrderKindName) => proposalOperations[kind].summary.replace('Proposes', 'Propose');
const shapeOf = (kind: OrderKindName) => proposalOperations[kind].body.shape;
const kindOf = (given: Given) => kinds.find((kind) => kind === given('kind'));

/** What was written, for the ledger's own contract to read. */
const bodyOf = (kind: OrderKindName, given: Given) =>
  Object.fromEntries(
    Object.keys(shapeOf(kind)).map((name) => {
      const text = given(name);
      if (name === 'currency') return [name, text?.toUpperCase()];
      return [name, name === 'amount' && text !== undefined ? plainAmount(text) : text];
    }),
  );

function ask(visit: Visit, given: Given): Change {
  const kind = kindOf(given);
  const back = ['/ledger', 'Back to the ledger'] as const;
  if (!kind) return { title: 'Propose an order of money', about: orderLinks(visit), back };
  const fields = fieldsOf(kind);
  return { title: titleOf(kind), fields, hidden: { kind }, foresee: () => foresee(visit, kind, given), back };
}

const questions = [
  ['merchantId', 'Merchant', 'Its id, such as demo'],
  ['rail', 'Rail', 'Its name, such as upstream'],
  ['direction', 'Direction', 'Which of both'],
  ['currency', 'Currency', 'Such as GHS'],
  ['amount', 'Amount', 'Such as 2500.50 or 2,500.50'],
  ['reason', 'Reason', 'Without names or numbers of people'],
] as const;
const directions = {
  credit: 'the merchant gets more',
  debit: 'the merchant gets less',
  surplus: 'the rail has more than our float',
  shortage: 'the rail has less than our float',
} as const;

function fieldsOf(kind: OrderKindName): readonly Field[] {
  const shape = shapeOf(kind);
  return questions
    .filter(([name]) => name in shape)
    .map(([name, label, hint]) => {
      const options =
        name === 'direction' &&
        'direction' in shape &&
        shape.direction.options.map((code) => [code, directions[code]] as const);
      return { name, label, hint, isRequired: name !== 'reason', ...(options && { options }) };
    });
}

/** The order as it was written, once the ledger's own contract has read it. */
async function foresee(visit: Visit, kind: OrderKindName, given: Given): Promise<Foreseen> {
  const read = proposalOperations[kind].body.safeParse(bodyOf(kind, given));
  if (!read.success) throw new RefusedError(describeProblem(firstProblem(read.error)), 422);
  const order: Order = { ...read.data, kind };
  const money = parsePositiveAmount(order.amount, order.currency);
  if (!money.ok) throw new RefusedError(`amount ${amountProblem(money.refusal, order.currency)}`, 422);
  return foreseen(visit, requestFor(order), { commandId: visit.newId() });
}

/** What an order would do, and the button that proposes it. */
async function foreseen(
  visit: Visit,
  request: OrderRequest,
  hidden: Readonly<Record<string, string>>,
): Promise<Foreseen> {
  const { shown, isRefused } = await effectOf(visit, request);
  const what = describeOrder({ ...request, ...request.account });
  const said = html`<p><strong>${what}.</strong> Nothing moves before another operator approves it.</p>${shown}`;
  return { shown: said, submit: isRefused ? undefined : `Propose ${what}`, hidden };
}

/** What is asked of the ledger by an order. */
export function requestFor({ merchantId, rail = '', ...order }: Order): OrderRequest {
  const { kind, amount, currency, direction } = order;
  const minor = minorOf(amount, currency);
  const account = merchantId === undefined ? { rail } : { merchantId };
  const change = takesAway(order) ? -minor : minor;
  return { kind, amount, currency, account, change, ...(direction && { direction }) };
}

/** The account that an order is about, besides the other side. */
export const accountOf = ({ account, currency }: Pick<OrderRequest, 'account' | 'currency'>): string =>
  `${'rail' in account ? `float:${account.rail}` : `wallet:${account.merchantId}`}:${currency}`;

/** What an order would leave, and what speaks against it. */
export async function effectOf(
  { upstream, times }: Visit,
  request: OrderRequest,
): Promise<{ readonly shown: Content; readonly isRefused: boolean }> {
  const { lines, isRefused } = await foreseeOrder(upstream, request);
  const values = lines.flatMap((line) =>
    typeof line === 'string' ? [] : [[`${line[0]} ${line[1]}`, words(line[2], times)] as const],
  );
  const warnings = lines.filter((line) => typeof line === 'string');
  const shown = html`${facts(values)}${warnings.map((one) => html`<p class="problem">${one}</p>`)}<p>${linkTo('account', accountOf(request), 'Statement of the account')}</p>`;
  return { shown, isRefused };
}

/** Proposes what was shown; by its id every repetition is the same order. */
async function propose({ upstream, field }: Submission): Promise<string> {
  const kind = kindOf(field);
  if (!kind) throw new RefusedError('kind: there is no such order', 422);
  // The fields belong to the kind, and the ledger reads them by its schema.
  const operation = proposalOperations[kind] as typeof proposalOperations.fund;
  const { commandId } = await upstream.call('ledger', operation, { body: bodyOf(kind, field) as never });
  return pathTo('order', commandId);
}

/** Asks for an order that corrects a break, which another operator approves; or says what must come before. */
async function askToCorrect(visit: Visit, given: Given): Promise<Change> {
  const found = await findBreak(visit);
  const { id, currency } = found;
  const common: Change = {
    title: `Correct our books: ${nameOf(found)}`,
    back: [pathTo('break', id), 'Back to the break'],
  };
  const uncorrectable = whyUncorrectable(found);
  if (uncorrectable !== undefined) return { ...common, about: html`<p>The break ${uncorrectable}.</p>` };
  const orders = await ordersFor(visit.upstream, found);
  const pending = pendingOf(found, orders, visit.times.nowMs);
  if (pending) {
    const order = linkTo('order', pending.commandId);
    const about = html`<p>The order ${order} waits already: it must be approved, or rejected, first.</p>`;
    return { ...common, about };
  }
  const wanted = correctionFor(found);
  const signs = '+ if our float, or the wallet, gets more, and - if it gets less';
  const why = { maxLength: REASON_LENGTH_MAX, isRequired: true };
  return {
    ...common,
    about: html`<p>An order corrects our books against suspense. Another operator approves it; once it is booked, the break is resolved.</p>`,
    fields: [
      {
        name: 'amount',
        label: 'Amount',
        value: wanted && signed(wanted),
        isRequired: true,
        hint: wanted
          ? `${displayAmount(wanted, currency ?? '', 'exceptZero')} makes both sides the same; write ${signs}`
          : `with ${signs}`,
      },
      {
        name: 'merchant',
        label: "Instead of our float, a merchant's wallet",
        hint: 'the id of the merchant',
      },
      ...(currency === null ? [{ name: 'currency', label: 'Currency' }] : []),
      { name: 'explanation', label: 'Why', ...why, hint: 'without names or numbers of people' },
    ],
    foresee: async () =>
      foreseen(visit, requestOf(given, found), {
        commandId: correctionId(found, orders),
        version: String(found.version),
      }),
  };
}

/** What our float must gain so that both sides are the same; undefined if nothing, or not known. */
function correctionFor({ id, ours, theirs, currency, floatChange }: ShownBreakView): string | undefined {
  const isWallet = id.endsWith('/balance') && ours !== null && theirs !== null && currency !== null;
  const change = isWallet
    ? formatAmount(minorOf(theirs, currency) - minorOf(ours, currency), currency)
    : floatChange;
  return change === null || change === '0' ? undefined : change;
}

const signed = (amount: string) => amount.replace(/^(?=\d)/, '+');

function requestOf(given: Given, found: ShownBreakView): OrderRequest {
  const currency = found.currency ?? given('currency')?.toUpperCase() ?? '';
  const text = plainAmount(given('amount') ?? '');
  const wrong = (why: string) => new RefusedError(why, 422);
  if (!/^[+-]/.test(text))
    throw wrong('amount: write + or - before it, such as +12.50: it says where the money goes');
  const sum = parsePositiveAmount(text.slice(1), currency);
  if (!sum.ok) throw wrong(`amount: ${text} ${amountProblem(sum.refusal, currency)}`);
  const merchantId = given('merchant');
  if (merchantId === undefined && found.rail === null)
    throw wrong('merchant: the break is of no rail: name the merchant');
  const minor = text.startsWith('-') ? -sum.value.minor : sum.value.minor;
  const account = merchantId === undefined ? { rail: found.rail ?? '' } : { merchantId };
  const request = correctionOf(account, currency, { minor, text: formatAmount(sum.value.minor, currency) });
  const why = whyWrongSign(found, request);
  if (why !== undefined) throw wrong(`amount: ${why}`);
  return request;
}

/**
 * Proposes the order for the break as it was shown, unless another may be booked for it; by its id every repetition is
 * the same order.
 */
async function correct(submission: Submission): Promise<string> {
  const { upstream, field, times } = submission;
  const found = await findBreak(submission);
  if (field('version') !== String(found.version))
    throw new RefusedError('the break has changed since you looked at it: look again', 409);
  const uncorrectable = whyUncorrectable(found);
  if (uncorrectable !== undefined) throw new RefusedError(`the break ${uncorrectable}`, 409);
  const commandId = field('commandId');
  const pending = pendingOf(found, await ordersFor(upstream, found), times.nowMs);
  if (pending && pending.commandId !== commandId)
    throw new RefusedError(`the order ${pending.commandId} for this break is ${pending.status}`, 409);
  const { kind, account, currency, amount, direction } = requestOf(field, found);
  const order = { ...account, commandId, currency, amount, direction };
  const body = { ...order, reason: field('explanation'), breakId: found.id } as never;
  await upstream.call('ledger', proposalOperations[kind], { body });
  return pathTo('break', found.id);
}
