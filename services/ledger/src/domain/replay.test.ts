import { describe, expect, it } from 'vitest';
import { isWalletAccount } from './accounts.ts';
import type { Hold, Posting, Snapshot, Wallet } from './books.ts';
import type { Instruction } from './instructions.ts';
import { ofNoBreak } from './posting.fixture.ts';
import { foldInstructions } from './posting.ts';

/** A small seeded random generator (mulberry32), so that a failure can be reproduced. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The ledger's state between batches, as the store keeps it. */
function createLedger(refundFee: boolean) {
  const wallets = new Map<string, Wallet>();
  const holds = new Map<string, Hold>();
  const postings = new Map<string, Pick<Posting, 'entries'>>();
  const booked: Posting[] = [];
  const refusedIds = new Set<string>();
  const accounts = new Map<string, bigint>();
  const snapshot: Snapshot = { wallets, holds, postings };
  return {
    wallets,
    holds,
    booked,
    refusedIds,
    accounts,
    apply: (instructions: readonly Instruction[]) => {
      const folded = foldInstructions(snapshot, instructions, { refundFee });
      for (const [key, { after }] of folded.wallets) wallets.set(key, { ...after });
      for (const [key, hold] of folded.holds) holds.set(key, hold);
      for (const [account, { debits, credits }] of folded.accountDeltas) {
        accounts.set(account, (accounts.get(account) ?? 0n) + debits - credits);
      }
      for (const { id } of folded.refusals) {
        refusedIds.add(id);
        postings.set(id, { entries: [] });
      }
      for (const posting of folded.postings) {
        if (postings.has(posting.id)) throw new Error(`${posting.id} was written twice`);
        postings.set(posting.id, posting);
        booked.push(posting);
      }
    },
  };
}

/** Courses of payouts, collections and fundings, each in its own order, randomly interleaved. */
function scenario(chance: (below: number) => number): readonly Instruction[] {
  const lives: Instruction[][] = [];
  for (let index = 0; index < 120; index += 1) {
    const merchantId = `m${chance(3)}`;
    const base = {
      causationId: `ev-${index}`,
      reference: `p-${index}`,
      merchantId,
      currency: chance(2) === 0 ? 'KES' : 'XOF',
    };
    const rail = `rail${chance(2)}`;
    const amount = BigInt(1 + chance(900));
    const money = { amount, fee: BigInt(chance(20)) };
    const railFee = BigInt(chance(5));
    const held = { ...base, ...money, kind: 'hold', rail } as const;
    const captured = { ...base, ...money, kind: 'capture', rail, railFee } as const;
    const lifeKinds: Instruction[][] = [
      [held, captured],
      [held, { ...base, ...money, kind: 'release' }],
      [held, captured, { ...base, ...money, kind: 'refund' }],
      [{ ...base, kind: 'collect', received: amount, fee: amount / 10n, rail, railFee }],
      [{ ...base, kind: 'fund', amount }],
      [{ ...base, kind: 'withdraw', amount }],
      [{ ...base, kind: 'adjust', direction: chance(2) === 0 ? 'credit' : 'debit', amount, ...ofNoBreak }],
      [{ ...base, kind: chance(2) === 0 ? 'fundFloat' : 'withdrawFloat', rail, amount }],
      [
        {
          ...base,
          kind: 'suspense',
          direction: chance(2) === 0 ? 'surplus' : 'shortage',
          rail,
          amount,
          ...ofNoBreak,
        },
      ],
    ];
    lives.push(lifeKinds[chance(lifeKinds.length)] ?? []);
  }
  const instructions: Instruction[] = [];
  let open = lives.filter((life) => life.length > 0);
  while (open.length > 0) {
    const next = open[chance(open.length)]?.shift();
    if (next) instructions.push(next);
    open = open.filter((life) => life.length > 0);
  }
  return instructions;
}

function batches(instructions: readonly Instruction[], chance: (below: number) => number): Instruction[][] {
  const cut: Instruction[][] = [];
  for (let start = 0; start < instructions.length; ) {
    const size = 1 + chance(25);
    cut.push(instructions.slice(start, start + size));
    start += size;
  }
  return cut;
}

describe.each(Array.from({ length: 25 }, (_, seed) => seed))('any scenario, seed %i', (seed) => {
  const chance = seeded(seed);
  const instructions = scenario(chance);
  const ledger = createLedger(seed % 2 === 0);
  for (const batch of batches(instructions, chance)) ledger.apply(batch);

  it('never lets a wallet below zero, after any entry', () => {
    const running = new Map<string, bigint>();
    for (const { entries, wallet, availableAfter, heldAfter } of ledger.booked) {
      for (const { debit, credit, amount } of entries) {
        running.set(debit, (running.get(debit) ?? 0n) - amount);
        running.set(credit, (running.get(credit) ?? 0n) + amount);
        for (const account of [debit, credit].filter(isWalletAccount)) {
          expect(running.get(account)).toBeGreaterThanOrEqual(0n);
        }
      }
      if (!wallet) continue;
      expect(running.get(`wallet:${wallet}:available`) ?? 0n).toBe(availableAfter);
      expect(running.get(`wallet:${wallet}:held`) ?? 0n).toBe(heldAfter);
    }
    for (const [key, wallet] of ledger.wallets) {
      expect(running.get(`wallet:${key}:available`) ?? 0n).toBe(wallet.available);
      expect(running.get(`wallet:${key}:held`) ?? 0n).toBe(wallet.held);
    }
  });

  it('balances: the shared accounts are debited by exactly what the wallets own', () => {
    for (const currency of ['KES', 'XOF']) {
      const shared = [...ledger.accounts].filter(([account]) => account.endsWith(`:${currency}`));
      const owned = [...ledger.wallets.values()].filter((wallet) => wallet.currency === currency);
      const debit = shared.reduce((sum, [, balance]) => sum + balance, 0n);
      expect(debit).toBe(owned.reduce((sum, { available, held }) => sum + available + held, 0n));
    }
  });

  it('holds exactly what open holds ask for, and numbers the entries of a wallet without a gap', () => {
    for (const [key, wallet] of ledger.wallets) {
      const open = [...ledger.holds.values()].filter(
        ({ status, merchantId, currency }) => status === 'open' && `${merchantId}:${currency}` === key,
      );
      expect(wallet.held).toBe(open.reduce((sum, { amount, fee }) => sum + amount + fee, 0n));
      const own = ledger.booked.filter((posting) => posting.wallet === key);
      let number = 0n;
      for (const { entries, walletSequence } of own) {
        number += BigInt(entries.filter(({ debit, credit }) => [debit, credit].some(isWalletAccount)).length);
        expect(walletSequence).toBe(number);
      }
      expect(wallet.sequence).toBe(number);
    }
  });

  it('is changed by no replay, however it is cut', () => {
    const before = structuredClone({
      wallets: ledger.wallets,
      holds: ledger.holds,
      refusedIds: ledger.refusedIds,
      accounts: ledger.accounts,
    });
    const count = ledger.booked.length;
    expect(count).toBeGreaterThan(50);
    for (const batch of batches(instructions, chance)) ledger.apply(batch);
    expect(ledger.booked).toHaveLength(count);
    const { wallets, holds, refusedIds, accounts } = ledger;
    expect({ wallets, holds, refusedIds, accounts }).toEqual(before);
  });
});
