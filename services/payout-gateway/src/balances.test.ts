import { describe, expect, it } from 'vitest';
import { createBalanceReader } from './balances.ts';

const wallet = { merchantId: 'demo', currency: 'NGN' };

function open(initial: Record<string, bigint>) {
  const state = {
    balances: new Map(Object.entries(initial)),
    nowMs: 0,
    broken: false,
    release: Promise.resolve(),
  };
  const overdue = Promise.withResolvers<void>();
  const reads: (readonly string[])[] = [];
  const warnings: unknown[] = [];
  const reader = createBalanceReader({
    load: async (ids) => {
      reads.push(ids);
      await state.release;
      if (state.broken) throw new Error('no primary');
      return new Map(
        ids.flatMap((id) => {
          const available = state.balances.get(id);
          return available === undefined ? [] : [[id, available] as const];
        }),
      );
    },
    clock: { nowMs: () => state.nowMs, sleep: () => overdue.promise },
    logger: { warn: (...line: unknown[]) => void warnings.push(line) },
  });
  return { reader, state, reads, warnings, letTimePass: overdue.resolve };
}

describe('whether a wallet can pay', () => {
  it('is judged by what is available, to the last unit', async () => {
    const { reader } = open({ 'demo:NGN': 100n });
    expect(await reader.canSpend(wallet, 100n)).toBe(true);
    expect(await reader.canSpend(wallet, 101n)).toBe(false);
    expect(await reader.canSpend({ ...wallet, currency: 'XOF' }, 1n)).toBe(false);
  });

  it('remembers for a quarter of a second, and only to say yes', async () => {
    const { reader, state, reads } = open({ 'demo:NGN': 100n });
    await reader.canSpend(wallet, 50n);
    state.balances.set('demo:NGN', 200n);
    state.nowMs = 250;
    expect(await reader.canSpend(wallet, 100n)).toBe(true);
    expect(reads).toHaveLength(1);
    expect(await reader.canSpend(wallet, 150n)).toBe(true);
    expect(reads).toHaveLength(2);
    state.balances.set('demo:NGN', 10n);
    state.nowMs = 501;
    expect(await reader.canSpend(wallet, 11n)).toBe(false);
    expect(reads).toHaveLength(3);
  });

  it('asks the database once for all who ask meanwhile', async () => {
    const { reader, state, reads } = open({ 'demo:NGN': 100n, 'rival:NGN': 5n });
    const gate = Promise.withResolvers<void>();
    state.release = gate.promise;
    const first = reader.canSpend(wallet, 1n);
    await Promise.resolve();
    const others = Array.from({ length: 50 }, () => reader.canSpend({ ...wallet, merchantId: 'rival' }, 6n));
    gate.resolve();
    expect([await first, ...(await Promise.all(others))]).toEqual([true, ...others.map(() => false)]);
    expect(reads).toEqual([['demo:NGN'], ['rival:NGN']]);
  });

  it('is left to the hold where the database does not answer', async () => {
    const { reader, state, warnings } = open({});
    state.broken = true;
    expect(await reader.canSpend(wallet, 1n)).toBe(true);
    expect(warnings).toHaveLength(1);
    state.broken = false;
    expect(await reader.canSpend(wallet, 1n)).toBe(false);
  });

  it('is left to the hold where the database has stalled, and asked anew after that', async () => {
    const { reader, state, reads, warnings, letTimePass } = open({ 'demo:NGN': 7n });
    state.release = new Promise(() => undefined);
    const stalled = [reader.canSpend(wallet, 8n), reader.canSpend(wallet, 8n)];
    const answer = reader.available('demo', ['NGN']);
    letTimePass();
    expect(await Promise.all(stalled)).toEqual([true, true]);
    await expect(answer).rejects.toThrow('no answer within 2000 ms');
    expect(warnings).toHaveLength(2);
    state.release = Promise.resolve();
    const before = reads.length;
    void reader.canSpend(wallet, 8n);
    await expect.poll(() => reads).toHaveLength(before + 1);
  });
});

describe('what is available', () => {
  it('is 0 if no balance was published yet, and fails if the database does', async () => {
    const { reader, state } = open({ 'demo:NGN': 7n });
    expect(await reader.available('demo', ['NGN', 'XOF'])).toEqual(
      new Map([
        ['NGN', 7n],
        ['XOF', 0n],
      ]),
    );
    state.broken = true;
    await expect(reader.available('demo', ['NGN'])).rejects.toThrow('no primary');
  });
});
