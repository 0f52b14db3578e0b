import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Break } from '../domain/break.ts';
import { createHarness } from '../fixtures/harness.ts';
import { type BreakStore, openBreakStore } from './store.ts';

const { close, database, open, operator } = createHarness('list', process.env);

beforeAll(open);
afterAll(close);

describe('the list of breaks', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
  const breakOf = (number: number): Break => ({
    _id: `stored-${String(number).padStart(4, '0')}/status`,
    field: 'status',
    kind: 'statement.differs',
    observations: [
      {
        observer: 'statement',
        kind: 'statement.differs',
        amount: 0n,
        detail: 'stored',
        at: at(0),
        currency: 'KES',
      },
    ],
    reference: `stored-${String(number).padStart(4, '0')}`,
    rail: number % 2 === 0 ? 'upstream' : 'other',
    currency: number % 3 === 0 ? 'KES' : 'GHS',
    amount: BigInt(number),
    detail: 'stored',
    // Many at the same moment: a cursor of the time alone would skip or repeat some.
    openedAt: at(Math.floor(number / 100)),
    since: at(Math.floor(number / 100)),
    status: number % 5 === 0 ? 'resolved' : 'open',
    ...(number % 4 === 0 && { owner: 'ama' }),
    ...(number % 8 === 0 && { explanation: 'stored' }),
    ...(number % 50 === 1 && {
      proposedResolution: { by: 'ama', at: new Date(0), resolution: 'x' },
    }),
    version: 1,
    history: [],
  });
  const all = Array.from({ length: 1_200 }, (_, number) => breakOf(number));
  let store: BreakStore;

  beforeAll(async () => {
    store = openBreakStore(database());
    await database().collection<Break>('breaks').insertMany(all);
  });

  const listed = async (query: string) => {
    const found: string[] = [];
    let cursor = '';
    do {
      const page = (await operator(
        `/breaks?kind=statement.differs&${query}&limit=97${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )) as unknown as { readonly items: readonly { readonly id: string }[]; readonly next: string | null };
      found.push(...page.items.map(({ id }) => id));
      cursor = page.next ?? '';
      // Breaks that open or change meanwhile do not affect the list.
      const newer = breakOf(2_000 + found.length);
      await database()
        .collection<Break>('breaks')
        .updateOne({ _id: newer._id }, { $set: { ...newer, openedAt: new Date() } }, { upsert: true });
    } while (cursor !== '');
    return found.filter((id) => !id.startsWith('stored-2') && !id.startsWith('stored-3'));
  };

  it.each<[string, (one: Break) => boolean]>([
    ['', () => true],
    ['status=unresolved', ({ status }) => status === 'open'],
    ['status=resolved', ({ status }) => status === 'resolved'],
    ['status=open', (one) => one.status === 'open' && !one.owner && !one.explanation],
    ['status=assigned', (one) => one.status === 'open' && one.owner !== undefined && !one.explanation],
    ['status=explained', (one) => one.status === 'open' && one.explanation !== undefined],
    ['rail=other', ({ rail }) => rail === 'other'],
    ['waitsForApproval=true', ({ proposedResolution }) => proposedResolution !== undefined],
    ['currency=KES&owner=ama', ({ currency, owner }) => currency === 'KES' && owner === 'ama'],
  ])('skips none and repeats none: %s', async (query, isWanted) => {
    const newestFirst = (one: Break, other: Break) =>
      Number(other.openedAt) - Number(one.openedAt) || (one._id < other._id ? 1 : -1);
    const expected = all
      .filter(isWanted)
      .toSorted(newestFirst)
      .map(({ _id }) => _id);
    expect(await listed(query)).toEqual(expected);
  });

  it('filters by age, by when a break was last opened', async () => {
    const before = at(3);
    const page = await store.list({ before, kind: 'statement.differs', limit: 2_000 });
    expect(page.items).toHaveLength(300);
    await database()
      .collection<Break>('breaks')
      .updateOne({ _id: breakOf(1)._id }, { $set: { since: new Date() } });
    expect((await store.list({ before, kind: 'statement.differs', limit: 2_000 })).items).toHaveLength(299);
  });

  it('is served by an index and sorts nothing, whatever it is narrowed by', async () => {
    await database().command({ profile: 2 });
    const queries = [
      {},
      { reference: 'stored-0001' },
      { status: 'unresolved' },
      { status: 'resolved' },
      { kind: 'statement.differs' },
      { rail: 'upstream' },
      { currency: 'KES' },
      { owner: 'ama' },
      { waitsForApproval: 'true' },
      { before: at(5) },
    ] as const;
    const after = { atMs: at(11).getTime(), id: 'stored-1150' };
    for (const query of queries) await store.list({ ...query, after, limit: 10 });
    await database().command({ profile: 0 });
    const plans = await database()
      .collection('system.profile')
      .find({ ns: `${database().databaseName}.breaks`, 'command.sort': { $exists: true } })
      .toArray();
    expect(plans).toHaveLength(queries.length);
    for (const plan of plans) {
      expect([plan['command'], plan['planSummary']]).toEqual([
        plan['command'],
        expect.stringMatching(/^IXSCAN/) as unknown,
      ]);
      expect(plan).not.toHaveProperty('hasSortStage');
      expect(plan['docsExamined']).toBeLessThan(60);
    }
  });

  it('is exported whole, though it has more pages', async () => {
    const response = await operator('/breaks/export?format=json&kind=statement.differs');
    const exported = response as unknown as readonly { readonly id: string }[];
    const theirs = exported.filter(({ id }) => /^stored-[01]/.test(id));
    expect(new Set(theirs.map(({ id }) => id)).size).toBe(all.length);
    expect(theirs).toHaveLength(all.length);
  });
});
