import { type BatchTransaction, idOf, type OutgoingEvent } from '@pesewa/messaging';
import { expect, it } from 'vitest';
import type { StoredAnswers } from './domain/answers.ts';
import type { Hold, Posting, Wallet } from './domain/books.ts';
import { type Instruction, postingId } from './domain/instructions.ts';
import {
  capture,
  collect,
  fund,
  fundFloat,
  hold,
  ofNoBreak,
  policy,
  refund,
  release,
} from './domain/posting.fixture.ts';
import { createPostings } from './postings.ts';
import type { LedgerStore } from './store.ts';

/** A ledger that keeps its records in memory; each batch is 65 seconds after the one before. */
function openLedger() {
  const wallets = new Map<string, Wallet>();
  const holds = new Map<string, Hold>();
  const decided = new Map<string, Pick<Posting, 'entries'>>();
  const postings = new Map<string, Posting & { readonly at: Date }>();
  const refusals = new Map<
    string,
    StoredAnswers['refusals'] extends ReadonlyMap<string, infer One> ? One : never
  >();
  const newest = new Map<string, Posting & { readonly at: Date }>();
  let nowMs = 0;
  const store: Pick<LedgerStore, 'read' | 'readAnswers' | 'write'> = {
    read: async () => ({ snapshot: { wallets, holds, postings: decided }, newestMs: 0 }),
    readAnswers: async (repeated) => {
      const ids = repeated.map(postingId);
      return {
        postings: new Map([...postings].filter(([id]) => ids.includes(id))),
        refusals: new Map([...refusals].filter(([id]) => ids.includes(id))),
        newest,
      };
    },
    write: async (folded, { atMs }, _transaction, meanwhile) => {
      const at = new Date(atMs);
      meanwhile(at, undefined);
      for (const posting of folded.postings) {
        postings.set(posting.id, { ...posting, at });
        decided.set(posting.id, posting);
        if (posting.wallet !== undefined) newest.set(posting.wallet, { ...posting, at });
      }
      for (const { id, ...refusal } of folded.refusals) {
        refusals.set(id, { ...refusal, at });
        decided.set(id, { entries: [] });
      }
      for (const [reference, changed] of folded.holds) holds.set(reference, changed);
      for (const [key, { after }] of folded.wallets) wallets.set(key, { ...after });
    },
  };
  const ledger = createPostings({
    store: store as LedgerStore,
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    policy,
  });
  return async (...instructions: readonly Instruction[]): Promise<readonly OutgoingEvent[]> => {
    nowMs += 65_000;
    const emitted: OutgoingEvent[] = [];
    const transaction = {
      partition: 0,
      emit: (event: OutgoingEvent) => void emitted.push(event),
      park: expect.fail,
      isRetry: false,
    };
    await ledger.post(instructions, 'payouts', transaction as unknown as BatchTransaction);
    return structuredClone(emitted);
  };
}

/** Of two wallets: all that the ledger answers, placed, refused, ended, credited, ordered. */
const life: readonly Instruction[] = ['demo', 'other'].flatMap((merchantId) => {
  const of = <One extends Instruction>(name: string, one: One): One => ({
    ...one,
    merchantId,
    causationId: `ev-${merchantId}-${name}-${one.kind}`,
    reference: `${merchantId}-${name}`,
  });
  return [
    of('refused', hold),
    of('funding', { ...fund, amount: 5_000n }),
    of('paid', hold),
    of('failed', hold),
    of('paid', capture),
    of('failed', release),
    of('collected', collect),
    of('all fee', { ...collect, fee: 500n }),
    of('paid', refund),
    of('withdrawn', { ...fund, kind: 'withdraw', amount: 100n }),
    of('too much', { ...fund, kind: 'withdraw', amount: 90_000n }),
    of('adjusted', { ...fund, kind: 'adjust', direction: 'debit', amount: 1n, ...ofNoBreak }),
    of('float', fundFloat),
    of('out of it', { ...fundFloat, kind: 'withdrawFloat' }),
    of('suspense', { ...fundFloat, kind: 'suspense', direction: 'surplus', ...ofNoBreak }),
    of('open', hold),
  ];
});

it('says an event again as it said it first, whatever has happened to the wallet since', async () => {
  const apply = openLedger();
  const first = new Map<string, OutgoingEvent>();
  const answered: string[] = [];
  for (const [index, instruction] of life.entries()) {
    for (const event of await apply(instruction)) {
      expect(first.has(idOf(event))).toBe(false);
      first.set(idOf(event), event);
      answered.push(event.type);
    }
    for (const earlier of life.slice(0, index + 1)) {
      const again = await apply({ ...earlier, causationId: 'ev-again' });
      expect(again.length).toBeGreaterThan(0);
      for (const event of again) expect(event).toEqual(first.get(idOf(event)));
    }
  }
  expect(new Set(answered).size).toBe(14);
});
