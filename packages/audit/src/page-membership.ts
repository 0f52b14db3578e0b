import type { ClientSession, Db } from 'mongodb';
import type { Findings } from './findings.ts';
import { pageEntryIds } from './parse-page.ts';
import type { EntryRecord, PageRecord } from './records.ts';
import { collections } from './snapshot.ts';

const IDS_PER_PASS = 1_000_000;

/**
 * Reports the entries that are on no page and those that are on two (L6); gives how many. Run only if something is
 * known to be wrong: it reads all ids once per million entries, so that its memory stays bounded.
 */
export async function checkPlacement(
  db: Db,
  session: ClientSession,
  findings: Findings,
  entryCount: number,
): Promise<number> {
  let named = 0;
  const name = (id: string, message: string): void => {
    named += 1;
    findings.report('L6', id, message);
  };
  const passes = Math.max(1, Math.ceil(entryCount / IDS_PER_PASS));
  for (let pass = 0; pass < passes; pass += 1) {
    const isOfPass = (id: string): boolean => passes === 1 || scatter(id) % passes === pass;
    const unplaced = new Set<string>();
    // Entries are read before pages, so that an entry written meanwhile is on a page that is read.
    const entries = db
      .collection<EntryRecord>(collections.entries)
      .find({}, { session, projection: { _id: 1 }, hint: { _id: 1 } });
    for await (const { _id } of entries) if (isOfPass(_id)) unplaced.add(_id);
    await takePlaced(db, session, name, unplaced, isOfPass);
    for (const id of unplaced) name(id, 'stands on no page');
  }
  return named;
}

async function takePlaced(
  db: Db,
  session: ClientSession,
  name: (id: string, message: string) => void,
  unplaced: Set<string>,
  isOfPass: (id: string) => boolean,
): Promise<void> {
  const placed = new Set<string>();
  const pages = db
    .collection<PageRecord>(collections.pages)
    .find({}, { session, projection: { entries: 1 }, sort: { _id: 1 } });
  for await (const { _id: page, entries } of pages) {
    for (const id of pageEntryIds({ entries })) {
      if (!isOfPass(id)) continue;
      if (placed.has(id)) name(id, `stands on two pages, ${page} is the second`);
      placed.add(id);
      unplaced.delete(id);
    }
  }
}

/** Hashes ids to spread them evenly (FNV-1a). */
function scatter(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
