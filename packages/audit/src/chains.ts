import { GENESIS, pageHash, pageId, topics } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import type { Findings } from './findings.ts';
import { collections, type PageRecord, type PostingRecord } from './records.ts';

/** The postings of a page, in order; undefined for an id that has no posting. */
export type PagePostings = readonly (PostingRecord | undefined)[];

/**
 * The newest page of a chain as an audit found it. Kept outside the system, it proves later that nothing before it was
 * changed.
 */
export interface Head {
  readonly chain: string;
  readonly number: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

/** The last page of a chain that was checked. */
export interface Tail {
  readonly number: bigint;
  readonly hash: Uint8Array;
  readonly atMs: number;
}

const beginning: Tail = { number: 0n, hash: GENESIS, atMs: 0 };

/** The partitions that the ledger consumes; each writes a chain of its own (docs/adr/0016-pages-and-the-audit.md). */
const writers: ReadonlySet<string> = new Set(
  (['payouts', 'collections', 'ledgerCommands'] as const).flatMap((topic) =>
    Array.from({ length: topics[topic].partitions }, (_, partition) => `${topic}/${partition}`),
  ),
);

/**
 * Verifies the chains of pages (L6); every chain goes on behind its tail, or begins with page 1, which has no predecessor. No page may
 * be newer than `latestMs`.
 */
export function createChains(findings: Findings, tails: Map<string, Tail>, latestMs: number) {
  function checkTime({ _id: id, at }: PageRecord, before: Tail): void {
    if (at.getTime() < before.atMs) findings.report('L6', id, 'is of a time before that of the page before');
    if (at.getTime() > latestMs) {
      const latest = new Date(latestMs).toISOString();
      findings.report('L6', id, `is of ${at.toISOString()}, but was there before ${latest}`);
    }
  }

  return {
    /** Takes the next page of a chain. */
    page: (page: PageRecord, postings: PagePostings) => {
      const { _id: id, chain, number, hash, at } = page;
      if (!writers.has(chain)) findings.report('L6', id, 'belongs to a chain that no partition writes');
      const before = tails.get(chain) ?? beginning;
      const expected = before.number + 1n;
      tails.set(chain, { number, hash, atMs: at.getTime() });
      if (number !== expected) {
        findings.report('L6', pageId(chain, expected), `is missing: page ${number} comes next`);
        return;
      }
      if (!isSame(page.previous, before.hash)) {
        findings.report('L6', id, 'does not follow the hash of the page before');
      }
      checkHash(findings, page, postings);
      checkTime(page, before);
    },
    /** Compares with the newest page of each chain, as stored when the audit began. */
    close: (heads: ReadonlyMap<string, bigint>) => {
      for (const [chain, head] of heads) {
        const number = tails.get(chain)?.number ?? 0n;
        if (number < head)
          findings.report('L6', pageId(chain, number + 1n), `is missing: ${head} is the newest`);
      }
    },
  };
}

/** The tails of chains as a report names them. */
export function headsOf(tails: ReadonlyMap<string, Tail>): readonly Head[] {
  return [...tails]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([chain, { number, hash }]) => ({ chain, number: Number(number), hash: toHex(hash) }));
}

/** Checks that pages are stored with the hashes that an earlier audit found (L6). */
export async function checkHeads(
  db: Db,
  session: ClientSession,
  findings: Findings,
  earlier: readonly Head[],
): Promise<void> {
  const hashes = new Map(earlier.map(({ chain, number, hash }) => [pageId(chain, BigInt(number)), hash]));
  const stored = await db
    .collection<PageRecord>(collections.pages, { promoteBuffers: true })
    .find({ _id: { $in: [...hashes.keys()] } }, { session, projection: { hash: 1 } })
    .toArray();
  for (const { _id: id, hash } of stored) {
    if (!(hash instanceof Uint8Array) || hashes.get(id) !== toHex(hash))
      findings.report('L6', id, 'has another hash than in the earlier report');
    hashes.delete(id);
  }
  for (const id of hashes.keys()) findings.report('L6', id, 'is missing: the earlier report has it');
}

function checkHash(findings: Findings, page: PageRecord, postings: PagePostings): void {
  const { chain, number, previous, accounts } = page;
  const there = postings.filter((posting) => posting !== undefined);
  if (there.length < postings.length) {
    const missing = page.postings[postings.indexOf(undefined)] ?? '';
    findings.report('L6', page._id, `names the posting ${missing}, which does not exist`);
    return;
  }
  const atMs = page.at.getTime();
  const otherTime = there.find(({ at }) => !(at instanceof Date) || at.getTime() !== atMs);
  if (otherTime) {
    findings.report(
      'L6',
      page._id,
      `is of ${page.at.toISOString()}, but holds ${otherTime._id} of another time`,
    );
    return;
  }
  if (isSame(pageHash({ chain, number, previous }, there, accounts), page.hash)) return;
  const [first, last] = [page.postings.at(0) ?? 'none', page.postings.at(-1) ?? 'none'];
  findings.report(
    'L6',
    page._id,
    `its hash is not that of its ${postings.length} postings, ${first} to ${last}: one was changed, or the page was`,
  );
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
