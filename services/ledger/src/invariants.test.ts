import { pageId } from '@pesewa/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PostingDocument } from './documents.ts';
import type { Entry } from './domain/books.ts';
import { auditRecords, openMemoryLedger, type Records } from './memory-ledger.fixture.ts';
import { anyCuts, anyScenario, type Batch, cut, lawfulScenario } from './scenarios.fixture.ts';

/** Fixed, so that a failure can be reproduced; fast-check prints it with the path to the smallest failing case. */
const SEED = 20_261_121;

/** Far longer than it takes on an idle machine. */
const TIMEOUT_MS = 30_000;

function check<Values extends unknown[]>(property: fc.IProperty<Values>, runs: number): void {
  fc.assert(property, { seed: SEED, numRuns: runs });
}

function ledgerAfter(batches: readonly Batch[], refundFee: boolean) {
  const ledger = openMemoryLedger(refundFee);
  for (const { topic, instructions } of batches) ledger.apply(topic, instructions);
  return ledger;
}

describe(`the books keep L1 to L9 after any messages (seed ${SEED})`, () => {
  it(
    'after every batch',
    () => {
      let entries = 0;
      check(
        fc.property(anyScenario, anyCuts, fc.boolean(), (scenario, sizes, refundFee) => {
          const ledger = openMemoryLedger(refundFee);
          for (const { topic, instructions } of cut(scenario, sizes)) {
            ledger.apply(topic, instructions);
            expect(auditRecords(ledger.records())).toEqual([]);
          }
          for (const posting of ledger.records().postings.values()) entries += posting.entries.length;
        }),
        40,
      );
      // Cases in which no money moves would prove nothing.
      expect(entries).toBeGreaterThan(600);
    },
    TIMEOUT_MS,
  );

  it(
    'however the chains are read beside each other',
    () => {
      check(
        fc.property(anyScenario, anyCuts, (scenario, sizes) => {
          expect(auditRecords(ledgerAfter(cut(scenario, sizes), true).records(), 'byChain')).toEqual([]);
        }),
        120,
      );
    },
    TIMEOUT_MS,
  );
});

describe(`batches and replays (seed ${SEED})`, () => {
  it(
    'a scenario leads to the same books, however it is cut',
    () => {
      check(
        fc.property(anyScenario, anyCuts, fc.boolean(), (scenario, sizes, refundFee) => {
          const whole = ledgerAfter(cut(scenario, sizes), refundFee).books();
          expect(whole).toEqual(ledgerAfter(cut(scenario, [1]), refundFee).books());
        }),
        120,
      );
    },
    TIMEOUT_MS,
  );

  it(
    'a replay of every topic from the start changes nothing',
    () => {
      check(
        fc.property(lawfulScenario, anyCuts, anyCuts, fc.boolean(), (scenario, sizes, others, refundFee) => {
          const ledger = ledgerAfter(cut(scenario, sizes), refundFee);
          const before = structuredClone(ledger.records());
          const byTopic = Map.groupBy(cut(scenario, others), ({ topic }) => topic);
          for (const { topic, instructions } of [...byTopic.values()].flat())
            ledger.apply(topic, instructions);
          const { pages, postings, buckets } = ledger.records();
          expect({ pages, postings, buckets }).toEqual({
            pages: before.pages,
            postings: before.postings,
            buckets: before.buckets,
          });
        }),
        120,
      );
    },
    TIMEOUT_MS,
  );
});

/** Every kind of change to the books that leaves no other trace. */
const tamperings: Readonly<Record<string, (records: Records, chance: number) => void>> = {
  'an amount': ({ postings }, chance) =>
    changeEntry(postings, chance, (entry) => ({ ...entry, amount: entry.amount + 1n })),
  'a leg': ({ postings }, chance) =>
    changeEntry(postings, chance, (entry) => ({ ...entry, debit: entry.credit })),
  'the kind of an entry': ({ postings }, chance) =>
    changeEntry(postings, chance, (entry) => ({ ...entry, kind: entry.kind === 'fee' ? 'capture' : 'fee' })),
  'an entry less': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({ ...posting, entries: posting.entries.slice(1) })),
  'an entry more': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({
      ...posting,
      entries: [...posting.entries, pick(posting.entries, chance)],
    })),
  'a cause': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({ ...posting, causationId: 'another' })),
  'a rail': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({ ...posting, rail: 'another' })),
  'a fee': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({ ...posting, fee: (posting.fee ?? 0n) + 1n })),
  'the time of a posting': ({ postings }, chance) =>
    change(postings, chance, (posting) => ({ ...posting, at: new Date(posting.at.getTime() + 1) })),
  'the time of a page and its postings': ({ pages, postings }, chance) => {
    const page = pick(pages, chance);
    const at = new Date(page.at.getTime() + 1);
    Object.assign(page, { at });
    for (const id of page.postings) set(postings, id, { at });
  },
  'the time of a wallet': ({ wallets }, chance) => {
    Object.assign(pick(wallets, chance), { at: new Date(1_000_000) });
  },
  'a posting less': ({ postings }, chance) => void postings.delete(pick([...postings.keys()], chance)),
  'a posting more on a page': ({ pages, postings }, chance) => {
    const page = pick(pages, chance);
    const posting = set(postings, page.postings[0] ?? '', {});
    postings.set('cm-99/fund', { ...posting, _id: 'cm-99/fund', reference: 'cm-99', kind: 'fund' });
    Object.assign(page, { postings: [...page.postings, 'cm-99/fund'] });
  },
  'a posting twice on a page': ({ pages }, chance) => {
    const page = pick(pages, chance);
    Object.assign(page, { postings: [...page.postings, pick(page.postings, chance)] });
  },
  'a page less': ({ pages }, chance) => void pages.splice(chance % pages.length, 1),
  'a page more': ({ pages }, chance) => {
    const page = pick(pages, chance);
    const number = page.number + 1_000n;
    pages.push({ ...page, _id: pageId(page.chain, number), number });
  },
  'a hash': ({ pages }, chance) => void pick(pages, chance).hash.fill(7),
  'a line of a page': ({ pages }, chance) => {
    const lines = pages.flatMap(({ accounts }) => accounts);
    const field = pick(['debits', 'credits', 'debitsAfter', 'creditsAfter'] as const, chance);
    const line = pick(lines, chance);
    Object.assign(line, { [field]: line[field] + 1n });
  },
  'a line more': ({ pages }, chance) => {
    const page = pick(pages, chance);
    const none = { debits: 0n, credits: 0n, debitsAfter: 0n, creditsAfter: 0n };
    Object.assign(page, { accounts: [...page.accounts, { account: 'treasury:GHS', ...none }] });
  },
  'an amount with all that follows of it': ({ pages, postings, buckets }, chance) => {
    const lines = pages.flatMap((page) => page.accounts.map((line) => ({ page, line })));
    const { page, line } = pick(lines, chance);
    const id = page.postings.find((each) => entryOn(postings.get(each), line.account)) ?? '';
    const entry = entryOn(postings.get(id), line.account);
    const side = entry?.debit === line.account ? 'debits' : 'credits';
    const entries = postings
      .get(id)
      ?.entries.map((one) => (one === entry ? { ...one, amount: one.amount + 1n } : one));
    set(postings, id, { entries: entries ?? [] });
    for (const { chain, accounts } of pages.slice(pages.indexOf(page))) {
      const own = chain === page.chain ? accounts.find(({ account }) => account === line.account) : undefined;
      if (own) Object.assign(own, { [`${side}After`]: own[`${side}After`] + 1n });
    }
    Object.assign(line, { [side]: line[side] + 1n });
    const bucket = buckets.find(({ _id }) => _id === `${line.account}#${page.chain}`);
    if (bucket) Object.assign(bucket, { [side]: bucket[side] + 1n });
  },
  'a balance': ({ wallets, buckets }, chance) => {
    const stored = pick([...wallets, ...buckets], chance);
    const field =
      'available' in stored ? { available: stored.available + 1n } : { debits: stored.debits + 1n };
    Object.assign(stored, field);
  },
  'a balance less': ({ wallets, buckets }, chance) => {
    const list = wallets.length > 0 && chance % 2 === 0 ? wallets : buckets;
    list.splice(chance % list.length, 1);
  },
  'a wallet more': ({ wallets }) => {
    const empty = { available: 0n, held: 0n, sequence: 0n };
    wallets.push({ _id: 'm9:KES', merchantId: 'm9', currency: 'KES', ...empty, at: new Date(1) });
  },
  'a bucket more': ({ buckets }) =>
    void buckets.push({ _id: 'treasury:GHS#payouts/0', account: 'treasury:GHS', debits: 1n, credits: 0n }),
};

function entryOn(posting: PostingDocument | undefined, account: string): Entry | undefined {
  return posting?.entries.find(({ debit, credit }) => debit === account || credit === account);
}

function set(postings: Records['postings'], id: string, edit: Partial<PostingDocument>): PostingDocument {
  const posting = postings.get(id);
  if (!posting) throw new RangeError('there is no such posting');
  const edited = { ...posting, ...edit };
  postings.set(id, edited);
  return edited;
}

function changeEntry(postings: Records['postings'], chance: number, edit: (entry: Entry) => Entry): void {
  change(postings, chance, (posting) => {
    const index = chance % posting.entries.length;
    return { ...posting, entries: posting.entries.with(index, edit(pick(posting.entries, chance))) };
  });
}

function pick<Item>(items: readonly Item[], chance: number): Item {
  const item = items[chance % items.length];
  if (item === undefined) throw new RangeError('there is nothing to pick from');
  return item;
}

function change<Value>(values: Map<string, Value>, chance: number, edit: (value: Value) => Value): void {
  const [key, value] = pick([...values], chance);
  values.set(key, edit(value));
}

it.each(Object.entries(tamperings))(
  `a change is found of %s (seed ${SEED})`,
  (_what, tamper) => {
    check(
      fc.property(anyScenario, anyCuts, fc.nat(), (scenario, sizes, chance) => {
        const records = structuredClone(ledgerAfter(cut(scenario, sizes), false).records());
        fc.pre(records.wallets.length > 0 && records.buckets.length > 0);
        tamper(records, chance);
        expect(auditRecords(records)).not.toEqual([]);
      }),
      20,
    );
  },
  TIMEOUT_MS,
);
