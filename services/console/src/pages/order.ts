import {
  describeProblem,
  firstProblem,
  type OrderKindName,
  type OrderView,
  proposalOperations,
} from '@pesewa/contracts';
import { accept, amountProblem, parsePositiveAmount, type Result, refuse } from '@pesewa/kernel';
import { describeOrder, foreseeOrder, inWords, minorOf, takesAway } from '@pesewa/operator-client';
import { html } from 'hono/html';
import type { z } from 'zod';
import { type Field, form } from '../view/form.ts';
import { type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts } from '../view/table.ts';
import { doOrShowAgain, type Outcome, part, type Routes, type Submission, type Visit } from '../visits.ts';

type Order = Pick<OrderView, 'kind' | 'merchantId' | 'rail' | 'currency' | 'amount' | 'direction' | 'reason'>;

const PATH = '/ledger/orders/new';
const kinds = Object.keys(proposalOperations) as readonly OrderKindName[];

/** Proposes orders of money: a form, what it would do, and only then the proposal. */
export function addOrderPages(routes: Routes): void {
  routes.page(PATH, (visit) => showOrder(visit));
  routes.form(PATH, propose);
}

/** Where an account's statement is. */
export const accountPath = (account: string): string => pathOf(['ledger', 'accounts', account]);

/** Links to the forms for orders that may concern an account, filled in as far as it is known. */
export function orderLinks(
  { may }: Visit,
  about: Partial<Pick<Order, 'merchantId' | 'rail' | 'currency'>> = {},
): Html {
  if (!may('operator')) return html`<p class="empty">It takes an operator to propose orders of money.</p>`;
  const { merchantId, rail, currency } = about;
  const fitting = kinds.filter((kind) => (isOfWallet(kind) ? rail === undefined : merchantId === undefined));
  return html`<p class="actions">${fitting.map((kind) => link(pathOf(['ledger', 'orders', 'new'], { kind, merchantId, rail, currency }), titleOf(kind)))}</p>`;
}

const titleOf = (kind: OrderKindName) => proposalOperations[kind].summary.replace('Proposes', 'Propose');
const shapeOf = (kind: OrderKindName) => proposalOperations[kind].body.shape;
const isOfWallet = (kind: OrderKindName) => 'merchantId' in shapeOf(kind);
const kindOf = (given: Visit['query']) => kinds.find((kind) => kind === given('kind'));

/** What was written, as the ledger's own contract reads it. */
function readOrder(kind: OrderKindName, given: Visit['query']): Result<Order, string> {
  const written = Object.keys(shapeOf(kind)).map((name) => [name, given(name)]);
  const read = proposalOperations[kind].body.safeParse(Object.fromEntries(written));
  if (!read.success) return refuse(describeProblem(firstProblem(read.error)));
  const money = parsePositiveAmount(read.data.amount, read.data.currency);
  if (!money.ok) return refuse(`amount ${amountProblem(money.refusal, read.data.currency)}`);
  return accept({ ...read.data, kind });
}

async function showOrder(visit: Visit, refused?: string): Promise<Page> {
  const { query, may } = visit;
  const kind = kindOf(query);
  if (!kind || !may('operator')) return { title: 'Propose an order of money', body: orderLinks(visit) };
  const read = query('amount') === undefined ? undefined : readOrder(kind, query);
  const problem = refused ?? (read?.ok === false ? read.refusal : undefined);
  const fields = fieldsOf(kind, query);
  const draft = form({ action: PATH, hidden: { kind }, fields, submit: 'Show what it would do', problem });
  const shown = read?.ok ? section('What it would do', await preview(visit, read.value)) : nothing;
  return { title: titleOf(kind), body: html`${shown}${section('The order', draft)}` };
}

const questions: Readonly<Record<string, Omit<Field, 'name' | 'label'>>> = {
  merchantId: { hint: 'Its id, such as demo' },
  rail: { hint: 'Its name, such as upstream' },
  direction: {},
  currency: { hint: 'Such as GHS', maxLength: 3 },
  amount: { hint: 'Without signs between thousands, such as 2500.50' },
  reason: { hint: 'Without names or numbers of people', maxLength: 200 },
};
const directions = {
  adjust: [
    ['credit', 'the merchant gets more'],
    ['debit', 'the merchant gets less'],
  ],
  suspense: [
    ['surplus', 'the rail has more than our float'],
    ['shortage', 'the rail has less than our float'],
  ],
} as const;

function fieldsOf(kind: OrderKindName, given: Visit['query']): readonly Field[] {
  const shape = new Map<string, z.ZodType>(Object.entries(shapeOf(kind)));
  return Object.keys(questions).flatMap((name) => {
    const schema = shape.get(name);
    if (!schema) return [];
    const options =
      name === 'direction' && (kind === 'adjust' || kind === 'suspense') ? directions[kind] : undefined;
    const label =
      name === 'merchantId' ? 'Merchant' : inWords(name).replace(/^./, (first) => first.toUpperCase());
    const isRequired = !schema.safeParse(undefined).success;
    return [{ ...questions[name], name, label, value: given(name), isRequired, ...(options && { options }) }];
  });
}

async function preview(visit: Visit, order: Order): Promise<Html> {
  const sentence = describeOrder(order);
  const hidden = { ...order, commandId: visit.newId() } as Readonly<Record<string, string>>;
  return html`<p><strong>${sentence}.</strong> Nothing moves before another operator approves it.</p>
${await part(foreseen(visit, order))}${form({ csrf: visit.csrf, action: PATH, hidden, submit: `Propose ${sentence}` })}`;
}

/** What would be left after the order, and what speaks against it. */
async function foreseen({ upstream }: Visit, order: Order): Promise<Html> {
  const { kind, amount, merchantId, rail = '', currency } = order;
  const account = merchantId === undefined ? { rail } : { merchantId };
  const minor = minorOf(amount, currency);
  const change = takesAway(order) ? -minor : minor;
  const { lines } = await foreseeOrder(upstream, { kind, amount, currency, account, change });
  const name = merchantId === undefined ? `float:${rail}` : `wallet:${merchantId}`;
  const path = accountPath(`${name}:${currency}`);
  return html`${lines.map((line) => typeof line === 'string' && html`<p class="problem" role="alert">${line}</p>`)}${facts(
    lines.flatMap((line) => (typeof line === 'string' ? [] : [[`${line[0]} ${line[1]}`, line[2]] as const])),
  )}<p>${link(path, 'Statement of the account')}</p>`;
}

/** Proposes what was shown; by its id every repetition is the same order. */
function propose(submission: Submission): Promise<Outcome> {
  const { upstream, field } = submission;
  return doOrShowAgain(
    async () => {
      const kind = kindOf(field) ?? 'fund';
      const body = Object.fromEntries(Object.keys(shapeOf(kind)).map((name) => [name, field(name)]));
      // The fields belong to the kind, and the ledger reads them by its schema.
      const operation = proposalOperations[kind] as typeof proposalOperations.fund;
      const { commandId } = await upstream.call('ledger', operation, { body: body as never });
      return pathOf(['approvals', 'orders', commandId]);
    },
    (problem) => showOrder({ ...submission, query: field }, problem),
  );
}
