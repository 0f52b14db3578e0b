import {
  describeProblem,
  firstProblem,
  type OrderKindName,
  type OrderView,
  proposalOperations,
} from '@pesewa/contracts';
import { amountProblem, parsePositiveAmount } from '@pesewa/kernel';
import { describeOrder, foreseeOrder, inWords, RefusedError, takesAway } from '@pesewa/operator-client';
import { html } from 'hono/html';
import type { z } from 'zod';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import type { Field } from '../view/form.ts';
import { type Html, link, pathOf } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { plainAmount } from '../view/values.ts';
import type { Given, Routes, Submission, Visit } from '../visits.ts';
import { linesOf } from './break-adjustment.ts';

type Order = Pick<OrderView, 'kind' | 'merchantId' | 'rail' | 'currency' | 'amount' | 'direction' | 'reason'>;

const kinds = Object.keys(proposalOperations) as readonly OrderKindName[];

/** Proposes orders of money: a form, what it would do, and only then the proposal. */
export function addOrderPages(routes: Routes): void {
  addChange(routes, '/ledger/orders/new', ask, propose);
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
  const common = { role: 'operator', back: ['/ledger', 'Back to the ledger'] } as const;
  if (!kind) return { ...common, title: 'Propose an order of money', about: orderLinks(visit) };
  return {
    ...common,
    title: titleOf(kind),
    fields: fieldsOf(kind, given),
    hidden: { kind },
    foresee: () => foresee(visit, kind, given),
  };
}

const questions: Readonly<Record<string, Omit<Field, 'name' | 'label'>>> = {
  merchantId: { hint: 'Its id, such as demo' },
  rail: { hint: 'Its name, such as upstream' },
  direction: {},
  currency: { hint: 'Such as GHS', maxLength: 3 },
  amount: { hint: 'Such as 2500.50 or 2,500.50' },
  reason: { hint: 'Without names or numbers of people', maxLength: 200 },
};
const directions: Partial<Record<OrderKindName, Field['options']>> = {
  adjust: [
    ['credit', 'the merchant gets more'],
    ['debit', 'the merchant gets less'],
  ],
  suspense: [
    ['surplus', 'the rail has more than our float'],
    ['shortage', 'the rail has less than our float'],
  ],
};

function fieldsOf(kind: OrderKindName, given: Given): readonly Field[] {
  const shape = new Map<string, z.ZodType>(Object.entries(shapeOf(kind)));
  return Object.entries(questions).flatMap(([name, question]) => {
    const schema = shape.get(name);
    if (!schema) return [];
    const options = name === 'direction' ? directions[kind] : undefined;
    const label =
      name === 'merchantId' ? 'Merchant' : inWords(name).replace(/^./, (first) => first.toUpperCase());
    const isRequired = !schema.safeParse(undefined).success;
    return [{ ...question, name, label, value: given(name), isRequired, ...(options && { options }) }];
  });
}

/** What would be left after the order, and what speaks against it. */
async function foresee(
  { upstream, times, newId }: Visit,
  kind: OrderKindName,
  given: Given,
): Promise<Foreseen> {
  const read = proposalOperations[kind].body.safeParse(bodyOf(kind, given));
  if (!read.success) throw new RefusedError(describeProblem(firstProblem(read.error)), 422);
  const order: Order = { ...read.data, kind };
  const { merchantId, rail = '', currency, amount } = order;
  const money = parsePositiveAmount(amount, currency);
  if (!money.ok) throw new RefusedError(`amount ${amountProblem(money.refusal, currency)}`, 422);
  const { lines } = await foreseeOrder(upstream, {
    ...{ kind, amount, currency },
    account: merchantId === undefined ? { rail } : { merchantId },
    change: takesAway(order) ? -money.value.minor : money.value.minor,
  });
  const sentence = describeOrder(order);
  const statement = linkTo('account', accountOf(order), 'Statement of the account');
  return {
    shown: html`<p><strong>${sentence}.</strong> Nothing moves before another operator approves it.</p>${linesOf(lines, times)}<p>${statement}</p>`,
    submit: `Propose ${sentence}`,
    hidden: { commandId: newId() },
  };
}

/** The account that an order is about, besides the other side. */
export const accountOf = ({ merchantId, rail = '', currency }: Omit<Order, 'kind' | 'amount'>): string =>
  `${merchantId === undefined ? `float:${rail}` : `wallet:${merchantId}`}:${currency}`;

/** Proposes what was shown; by its id every repetition is the same order. */
async function propose({ upstream, field }: Submission): Promise<string> {
  const kind = kindOf(field);
  if (!kind) throw new RefusedError('kind: there is no such order', 422);
  // The fields belong to the kind, and the ledger reads them by its schema.
  const operation = proposalOperations[kind] as typeof proposalOperations.fund;
  const { commandId } = await upstream.call('ledger', operation, { body: bodyOf(kind, field) as never });
  return pathTo('order', commandId);
}
