import {
  BATCH_ITEMS_MAX,
  bulkPayoutHeader,
  bulkPayoutItem,
  describeProblem,
  firstProblem,
  JsonError,
  parseJson,
} from '@pesewa/contracts';
import { accept, formatAmount, type Result, refuse } from '@pesewa/kernel';
import { BoundsError, parseItems, splitBody } from './json-items.ts';
import {
  type BatchTerms,
  normaliseBatchTerms,
  normaliseItem,
  type PayoutRequest,
  type RequestRefusal,
} from './request.ts';

/** A batch as a merchant ordered it, normalised: the shared terms, and the items, each a payout of its own. */
export interface BatchRequest {
  readonly terms: BatchTerms;
  readonly items: readonly PayoutRequest[];
}

/** The most characters of an item, and of everything else together: as many as a single payout may have bytes. */
const CHARACTERS_MAX = 16_384;
const ITEMS_PER_STEP = 50;
const ITEMS = 'beneficiaries';

/**
 * Reads the body of a batch: it must be well-formed and complete, without duplicate references, and its total must be
 * the sum of its items. A refusal names the first bad index (contract 2.3 and 10.9).
 *
 * It yields between steps, because ten thousand items at once would block all other requests.
 */
export function* readBatch(text: string): Generator<void, Result<BatchRequest, RequestRefusal>> {
  try {
    const bounds = { itemsMax: BATCH_ITEMS_MAX, charactersMax: CHARACTERS_MAX };
    const { rest, items } = yield* splitBody(text, ITEMS, bounds);
    const body = parseJson(rest);
    const header = bulkPayoutHeader.safeParse(body);
    if (!header.success) return malformed(describeProblem(firstProblem(header.error)));
    if (items === undefined) return malformed(describeMissingItems(body));
    if (items.length === 0) return malformed(`${ITEMS} must have at least one item`);
    const terms = normaliseBatchTerms(header.data);
    if (!terms.ok) return terms;
    const orders = yield* readItems(terms.value, items);
    if (!orders.ok) return orders;
    return checkTotal(terms.value, orders.value);
  } catch (error) {
    if (error instanceof BoundsError) return malformed(error.message);
    if (error instanceof JsonError) return malformed(`the body ${error.message}`);
    throw error;
  }
}

function* readItems(
  terms: BatchTerms,
  texts: readonly string[],
): Generator<void, Result<readonly PayoutRequest[], RequestRefusal>> {
  const references = new Set([terms.merchantReference]);
  const orders: PayoutRequest[] = [];
  for (let first = 0; first < texts.length; first += ITEMS_PER_STEP) {
    for (const item of parseItems(texts.slice(first, first + ITEMS_PER_STEP))) {
      const path = itemPath(orders.length);
      const read = bulkPayoutItem.safeParse(item);
      if (!read.success) return malformed(describeItemProblem(path, firstProblem(read.error)));
      const order = normaliseItem(terms, read.data, path);
      if (!order.ok) return order;
      const { merchantReference } = order.value;
      if (references.has(merchantReference))
        return malformed(`${path}.transactionReference is used twice in this batch`);
      references.add(merchantReference);
      orders.push(order.value);
    }
    yield;
  }
  return accept(orders);
}

/** The name of an item in a refusal. */
export function itemPath(index: number): string {
  return `${ITEMS}.${index}`;
}

function describeItemProblem(path: string, problem: ReturnType<typeof firstProblem>): string {
  return problem.path === '' ? `${path} ${problem.message}` : `${path}.${describeProblem(problem)}`;
}

function describeMissingItems(body: unknown): string {
  const given = typeof body === 'object' && body !== null && ITEMS in body;
  return given ? `${ITEMS} must be an array` : `${ITEMS} is required`;
}

function checkTotal(
  terms: BatchTerms,
  items: readonly PayoutRequest[],
): Result<BatchRequest, RequestRefusal> {
  const sum = items.reduce((total, { amount }) => total + amount.minor, 0n);
  if (sum === terms.total.minor) return accept({ terms, items });
  // The sum may exceed the largest amount; the merchant is shown it all the same.
  const message = `totalAmount must be the sum of the amounts, ${formatAmount(sum, terms.total.currency)}`;
  return refuse({ code: 'invalidAmount', message });
}

function malformed(message: string): { readonly ok: false; readonly refusal: RequestRefusal } {
  return refuse({ code: 'malformed', message });
}

/**
 * The canonical text of a batch, from the hashes of its items in order (contract 10.3); these cover the shared terms.
 */
export function canonicalBatch(terms: BatchTerms, itemHashes: readonly string[]): string {
  return JSON.stringify([terms.merchantReference, ...itemHashes]);
}
