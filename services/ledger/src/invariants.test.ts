import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditRecords, openMemoryLedger, type Records } from './memory-ledger.fixture.ts';
import { anyCuts, anyStory, type Chunk, cut, lawfulStory } from './stories.fixture.ts';

/** Fixed, so that a failure can be repeated; fast-check prints it with the path to the smallest story that fails. */
const SEED = 20_261_121;

function check<Values extends unknown[]>(property: fc.IProperty<Values>, runs: number): void {
  fc.assert(property, { seed: SEED, numRuns: runs });
}

function ledgerAfter(chunks: readonly Chunk[], refundFee: boolean) {
  const ledger = openMemoryLedger(refundFee);
  for (const { topic, instructions } of chunks) ledger.apply(topic, instructions);
  return ledger;
}

describe(`the books keep L1 to L9, whatever is told (seed ${SEED})`, () => {
  it('after every chunk', () => {
    let entries = 0;
    check(
      fc.property(anyStory, anyCuts, fc.boolean(), (story, sizes, refundFee) => {
        const ledger = openMemoryLedger(refundFee);
        for (const { topic, instructions } of cut(story, sizes)) {
          ledger.apply(topic, instructions);
          expect(auditRecords(ledger.records())).toEqual([]);
        }
        entries += ledger.records().entries.size;
      }),
      100,
    );
    // Stories that move no money would prove nothing.
    expect(entries).toBeGreaterThan(1_500);
  });

  it('however the chains are read beside each other', () => {
    check(
      fc.property(anyStory, anyCuts, (story, sizes) => {
        expect(auditRecords(ledgerAfter(cut(story, sizes), true).records(), 'byChain')).toEqual([]);
      }),
      300,
    );
  });
});

describe(`chunks and replays (seed ${SEED})`, () => {
  it('a story leads to the same books, however it is cut', () => {
    check(
      fc.property(anyStory, anyCuts, fc.boolean(), (story, sizes, refundFee) => {
        const whole = ledgerAfter(cut(story, sizes), refundFee).books();
        expect(whole).toEqual(ledgerAfter(cut(story, [1]), refundFee).books());
      }),
      300,
    );
  });

  it('a replay of every topic from the start changes nothing', () => {
    check(
      fc.property(lawfulStory, anyCuts, anyCuts, fc.boolean(), (story, sizes, others, refundFee) => {
        const ledger = ledgerAfter(cut(story, sizes), refundFee);
        const before = structuredClone(ledger.records());
        const byTopic = Map.groupBy(cut(story, others), ({ topic }) => topic);
        for (const { topic, instructions } of [...byTopic.values()].flat()) ledger.apply(topic, instructions);
        const { pages, entries, buckets } = ledger.records();
        expect({ pages, entries, buckets }).toEqual({
          pages: before.pages,
          entries: before.entries,
          buckets: before.buckets,
        });
      }),
      300,
    );
  });
});

/** Whatever can be changed in the books without leaving a trace beside it. */
const tampering = fc.constantFrom<(records: Records, chance: number) => void>(
  ({ entries }, chance) => change(entries, chance, (entry) => ({ ...entry, amount: entry.amount + 1n })),
  ({ entries }, chance) => change(entries, chance, (entry) => ({ ...entry, causationId: 'another' })),
  ({ entries }, chance) => change(entries, chance, (entry) => ({ ...entry, debit: entry.credit })),
  ({ entries }, chance) => void entries.delete(pick([...entries.keys()], chance)),
  ({ pages }, chance) => void pages.splice(chance % pages.length, 1),
  ({ pages }, chance) => void pick(pages, chance).hash.fill(7),
  ({ wallets, buckets }, chance) => {
    const stored = pick([...wallets, ...buckets], chance);
    const field =
      'available' in stored ? { available: stored.available + 1n } : { debits: stored.debits + 1n };
    Object.assign(stored, field);
  },
  ({ wallets, buckets }, chance) => {
    const list = wallets.length > 0 && chance % 2 === 0 ? wallets : buckets;
    list.splice(chance % list.length, 1);
  },
);

function pick<Item>(items: readonly Item[], chance: number): Item {
  const item = items[chance % items.length];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}

function change<Value>(values: Map<string, Value>, chance: number, edit: (value: Value) => Value): void {
  const [key, value] = pick([...values], chance);
  values.set(key, edit(value));
}

it(`a change of anything stored is found (seed ${SEED})`, () => {
  check(
    fc.property(anyStory, anyCuts, tampering, fc.nat(), (story, sizes, tamper, chance) => {
      const records = structuredClone(ledgerAfter(cut(story, sizes), false).records());
      fc.pre(records.entries.size > 0 && records.buckets.length > 0);
      tamper(records, chance);
      expect(auditRecords(records)).not.toEqual([]);
    }),
    400,
  );
});
