import { z } from 'zod';
import { reference } from '../text.ts';
import { pageLimit, pageOf } from './lists.ts';
import { declareOperations } from './operation.ts';

const sharedAccountView = z.object({
  account: z.string(),
  currency: z.string(),
  balance: z.string(),
  /** The sums of its debits and credits in the period that was asked for, if one was. */
  turnover: z.object({ debits: z.string(), credits: z.string() }).optional(),
});

const trialLine = z
  .object({ currency: z.string(), account: z.string(), debit: z.string(), credit: z.string() })
  .meta({ id: 'TrialLine' });

const walletView = z.object({
  merchantId: z.string(),
  currency: z.string(),
  available: z.string(),
  held: z.string(),
  /** The number of its newest entry. */
  sequence: z.number(),
});

const floatView = z.object({ rail: z.string(), currency: z.string(), balance: z.string() });

const entryView = z
  .object({
    id: z.string(),
    at: z.string(),
    kind: z.string(),
    debit: z.string(),
    credit: z.string(),
    amount: z.string(),
    currency: z.string(),
    reference: z.string(),
    causationId: z.string(),
    /** The wallet that it touches, with its number there and the balances after it. */
    wallet: z.string().optional(),
    walletSequence: z.number().optional(),
    availableAfter: z.string().optional(),
    heldAfter: z.string().optional(),
    fee: z.string().optional(),
    rail: z.string().optional(),
  })
  .meta({ id: 'Entry' });

/** Sums by name, in decimal text: a wallet has `available` and `held`, any other account `balance`. */
const sums = z.record(z.string(), z.string());

const statementItem = entryView
  .pick({ id: true, at: true, kind: true, reference: true, causationId: true, debit: true, credit: true })
  .extend({
    /** The change by the entry, signed. */
    amount: sums,
    /** The balance after the entry. */
    balance: sums,
  });

const statementView = z.object({
  account: z.string(),
  currency: z.string(),
  from: z.string(),
  to: z.string(),
  /** Whether no further entry of this period can come. */
  final: z.boolean(),
  opening: sums,
  closing: sums,
  items: z.array(statementItem),
  next: z.string().nullable(),
});

/** A wallet of a merchant; amounts are decimal text. */
export type WalletView = z.output<typeof walletView>;

/** An entry of the ledger; amounts are decimal text, times in UTC. */
export type EntryView = z.output<typeof entryView>;

/** A page of the entries of an account between two times, with its balances before and after them. */
export type AccountStatementView = z.output<typeof statementView>;

const name = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
const account = z
  .string({ error: 'is required' })
  .regex(new RegExp(`^((wallet|float):${name}|feeIncome|railCost|treasury|suspense):[A-Z]{3}$`), {
    error:
      'must be wallet:<merchant>:<currency>, float:<rail>:<currency>, or feeIncome, railCost, treasury or suspense:<currency>',
  });

const time = z
  .string({ error: 'is required' })
  .refine(isTime, { error: 'must be a day or a time in ISO 8601, UTC' })
  .transform((text) => new Date(text));

/** `2026-02-01`, or `2026-02-01T08:00:00Z`. A day that the calendar does not have would silently become another one. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z)?$/.test(text)) return false;
  const read = new Date(text);
  return Number.isFinite(read.getTime()) && read.toISOString().startsWith(text.slice(0, 10));
}

/** Whether debits add to an account, because we own or spent it; to every other credits add, because we owe or earned it. */
export function growsByDebits(of: string): boolean {
  return /^(float|treasury|railCost):/.test(of);
}

/** The accounts of the ledger and their entries. */
export const accountOperations = declareOperations({
  shared: {
    method: 'get',
    path: '/accounts',
    summary: 'Lists the shared accounts with their balances',
    query: z
      .object({ from: time.optional(), to: time.optional() })
      .refine(({ from, to }) => (from && to ? from <= to : from === to), {
        error: 'from and to: give both, from not after to, or neither',
      }),
    answers: { 200: pageOf(sharedAccountView) },
    refusals: { invalid: 400 },
  },
  trialBalance: {
    method: 'get',
    path: '/trial-balance',
    summary:
      'Lists all accounts as of one moment, wallets as two sums; debits equal credits in each currency',
    answers: { 200: pageOf(trialLine) },
  },
  wallet: {
    method: 'get',
    path: '/accounts/{merchantId}/{currency}',
    summary: "Shows a merchant's wallet",
    answers: { 200: walletView },
    refusals: { not_found: 404 },
  },
  floats: {
    method: 'get',
    path: '/floats',
    summary: 'Lists our floats at the rails',
    answers: { 200: pageOf(floatView) },
  },
  entries: {
    method: 'get',
    path: '/entries',
    summary: 'Lists the entries of a payment or an order, by our reference',
    query: z.object({ reference, cursor: z.string().optional() }),
    answers: { 200: pageOf(entryView) },
    refusals: { invalid: 400 },
    pages: 'cursor',
  },
  statement: {
    method: 'get',
    path: '/statements',
    summary: "Lists an account's entries from one time until before another, oldest first",
    query: z
      .object({
        account,
        from: time,
        to: time.optional(),
        cursor: z.string().max(300).optional(),
        limit: pageLimit(500, 100),
      })
      .refine(({ from, to }) => !to || from <= to, { error: 'must not be before from', path: ['to'] }),
    answers: { 200: statementView },
    refusals: { invalid: 400, not_found: 404 },
    pages: 'cursor',
  },
});
