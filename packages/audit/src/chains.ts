import { GENESIS, pageHash, pageId } from '@pesewa/contracts';
import type { Findings } from './findings.ts';
import { type EntryRecord, type PageRecord, toWhole } from './records.ts';

/** What stands on a page, in its order; nothing where an entry is named that does not exist. */
export type PageEntries = readonly (EntryRecord | undefined)[];

/** Verifies the chains of pages (L6). */
export interface Chains {
  /** The next page of its chain. */
  readonly page: (page: PageRecord, entries: PageEntries) => void;
  /** Compares with the newest page of each chain, as stored when the audit began. */
  readonly close: (heads: ReadonlyMap<string, bigint>) => void;
  readonly pages: () => number;
}

/** Builds {@link Chains}; every chain begins with the page 1, which follows nothing. */
export function createChains(findings: Findings): Chains {
  const newest = new Map<string, { number: bigint; hash: Uint8Array }>();
  let pages = 0;
  return {
    page: (page, entries) => {
      pages += 1;
      const number = toWhole(page.number);
      const before = newest.get(page.chain) ?? { number: 0n, hash: GENESIS };
      const expected = before.number + 1n;
      newest.set(page.chain, { number, hash: page.hash });
      if (number !== expected) {
        findings.report('L6', pageId(page.chain, expected), `is missing: page ${number} comes next`);
        return;
      }
      if (page._id !== pageId(page.chain, number)) {
        findings.report('L6', page._id, `is page ${number} of ${page.chain}: its id says otherwise`);
      }
      if (!isSame(page.previous, before.hash)) {
        findings.report('L6', page._id, 'does not follow the hash of the page before');
      }
      judgeHash(findings, page, number, entries);
    },
    close: (heads) => {
      for (const [chain, head] of heads) {
        const number = newest.get(chain)?.number ?? 0n;
        if (number < head)
          findings.report('L6', pageId(chain, number + 1n), `is missing: ${head} is the newest`);
      }
    },
    pages: () => pages,
  };
}

function judgeHash(findings: Findings, page: PageRecord, number: bigint, entries: PageEntries): void {
  const there = entries.filter((entry) => entry !== undefined);
  if (there.length < entries.length) {
    const missing = page.entries[entries.indexOf(undefined)] ?? '';
    findings.report('L6', page._id, `names the entry ${missing}, which does not exist`);
    return;
  }
  const pageMs = page.at.getTime();
  const otherTime = there.find(({ at }) => !(at instanceof Date) || at.getTime() !== pageMs);
  if (otherTime) {
    findings.report(
      'L6',
      page._id,
      `is of ${page.at.toISOString()}, but holds ${otherTime._id} of another time`,
    );
    return;
  }
  const hash = pageHash({ chain: page.chain, number, previous: page.previous }, there);
  if (isSame(hash, page.hash)) return;
  const [first, last] = [page.entries.at(0) ?? 'none', page.entries.at(-1) ?? 'none'];
  findings.report(
    'L6',
    page._id,
    `its hash is not that of its ${entries.length} entries, ${first} to ${last}: one was changed, or the page was`,
  );
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
