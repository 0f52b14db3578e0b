import type { PaymentKind } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { z } from 'zod';
import type { PaymentEvent, Terms } from './domain/payment.ts';
import { type IndexedLog, openIndexedLog } from './indexed-log.ts';

const minor = z.string().transform((digits) => BigInt(digits));
const atMs = z.number();
const outcome = z.enum(['COMPLETED', 'FAILED']);

const flow = z.union([
  z.object({ kind: z.enum(['link', 'stk', 'stkThenComplete']) }),
  z.object({ kind: z.literal('otp'), otpLength: z.union([z.literal(4), z.literal(6)]) }),
]);

const terms = z.object({
  kind: z.enum(['payout', 'collection']),
  reference: z.string(),
  batchReference: z.string().optional(),
  ownReference: z.string(),
  amount: z.object({ minor, currency: z.string() }),
  feeMinor: minor,
  digits: z.string(),
  callbackUrl: z.string(),
  flow: flow.optional(),
});

const paymentEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('attemptRefused'), how: z.enum(['reset', 'tooManyRequests']), atMs }),
  z.object({ type: z.literal('accepted'), terms, atMs }),
  z.object({ type: z.literal('otpRefused'), atMs }),
  z.object({ type: z.literal('completionRequested'), atMs }),
  z.object({ type: z.literal('executed'), outcome, reason: z.string(), atMs }),
  z.object({ type: z.literal('reversed'), atMs }),
  z.object({
    type: z.literal('callbackTried'),
    statement: z.object({ status: z.enum(['COMPLETED', 'FAILED', 'REVERSED']), amountMinor: minor }),
    result: z.enum(['delivered', 'refused', 'suppressed']),
    final: z.boolean(),
    atMs,
  }),
]);

/** The content of a journal entry; amounts are decimal strings, empty if there is none. */
const journalEntry = z.object({
  at: z.string(),
  kind: z.enum(['request', 'execution', 'callback', 'reversal', 'state']),
  operation: z.enum(['payout', 'payin', 'complete', 'lookup', 'check', 'wallet']),
  reference: z.string(),
  amount: z.string(),
  currency: z.string(),
  outcome: z.string(),
});

/** An entry as the control API shows it; entries of kind `state` are internal. */
export type JournalEntry = z.output<typeof journalEntry>;

const journalLine = journalEntry.extend({
  payment: z.object({ kind: z.enum(['payout', 'collection']), event: paymentEvent }).optional(),
  wallet: z.object({ currency: z.string(), minor }).optional(),
});

/** The effect of a line on the state when it is read again. */
export type JournalEffect =
  | {
      readonly type: 'payment';
      readonly kind: PaymentKind;
      readonly reference: string;
      readonly event: PaymentEvent;
    }
  | { readonly type: 'wallet'; readonly currency: string; readonly minor: bigint };

/** The simulator's record of what really happened: every request, execution, callback and reversal, append-only. */
export interface Journal extends AsyncDisposable {
  readonly recordEvent: (terms: Terms, event: PaymentEvent) => void;
  readonly recordWallet: (nowMs: number, currency: string, minor: bigint) => void;
  /** Records a request that changed nothing, without waiting for the disk. */
  readonly noteRequest: (nowMs: number, entry: Omit<JournalEntry, 'at' | 'kind'>) => void;
  /** Resolves when every recorded effect up to now is on disk. */
  readonly flushed: () => Promise<void>;
  /** The entries of a reference, or all. */
  readonly entries: (reference: string | undefined) => Promise<readonly JournalEntry[]>;
}

/** Opens the journal file and hands its content to `restore`, in order. */
export async function openJournal(options: {
  readonly path: string;
  readonly restore: (effect: JournalEffect) => void;
  readonly onBroken: (error: Error) => void;
}): Promise<Journal> {
  const log = await openIndexedLog({
    path: options.path,
    onBroken: options.onBroken,
    restore: (text) => {
      const { reference, payment, wallet } = journalLine.parse(JSON.parse(text));
      if (payment) options.restore({ type: 'payment', reference, ...payment });
      if (wallet) options.restore({ type: 'wallet', ...wallet });
      return [reference];
    },
  });
  return {
    recordEvent: (paymentTerms, event) =>
      write(log, entryOf(paymentTerms, event), { payment: { kind: paymentTerms.kind, event } }),
    recordWallet: (nowMs, currency, balanceMinor) =>
      write(log, walletEntry(nowMs, currency, balanceMinor), { wallet: { currency, minor: balanceMinor } }),
    noteRequest: (nowMs, entry) => {
      log.appendLazily(JSON.stringify({ at: isoTime(nowMs), kind: 'request', ...entry }), [entry.reference]);
    },
    flushed: log.flushed,
    entries: async (reference) => {
      const lines = await log.read(reference);
      const entries = lines.map((text) => journalEntry.parse(JSON.parse(text)));
      return entries.filter((entry) => entry.kind !== 'state');
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

function write(log: IndexedLog, entry: JournalEntry, effect: object): void {
  const exact = (_: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value);
  log.append(JSON.stringify({ ...entry, ...effect }, exact), [entry.reference]);
}

function isoTime(nowMs: number): string {
  return new Date(nowMs).toISOString();
}

function walletEntry(nowMs: number, currency: string, balanceMinor: bigint): JournalEntry {
  const amount = formatAmount(balanceMinor, currency);
  const at = isoTime(nowMs);
  return { at, kind: 'state', operation: 'wallet', reference: '', amount, currency, outcome: 'set' };
}

function entryOf(paymentTerms: Terms, event: PaymentEvent): JournalEntry {
  const { amount, reference, kind } = paymentTerms;
  const operation = kind === 'payout' ? 'payout' : 'payin';
  const common = { at: isoTime(event.atMs), reference, currency: amount.currency };
  const asked = { ...common, amount: formatAmount(amount.minor, amount.currency) };
  switch (event.type) {
    case 'attemptRefused': {
      const refusal = event.how === 'reset' ? 'connection reset' : 'too many requests';
      return { ...asked, kind: 'request', operation, outcome: refusal };
    }
    case 'accepted':
      return { ...asked, kind: 'request', operation, outcome: 'accepted' };
    case 'otpRefused':
      return { ...asked, kind: 'request', operation: 'complete', outcome: 'incorrect otp' };
    case 'completionRequested':
      return { ...asked, kind: 'request', operation: 'complete', outcome: 'accepted' };
    case 'executed':
      return { ...asked, kind: 'execution', operation, outcome: event.outcome };
    case 'reversed':
      return { ...asked, kind: 'reversal', operation, outcome: 'REVERSED' };
    case 'callbackTried': {
      const claimed = formatAmount(event.statement.amountMinor, amount.currency);
      const visible = event.result === 'suppressed' ? 'state' : 'callback';
      return { ...common, amount: claimed, kind: visible, operation, outcome: event.statement.status };
    }
  }
}
