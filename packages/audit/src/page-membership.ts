import type { ClientSession, Db } from 'mongodb';
import type { Findings } from './findings.ts';
import { pagePostingIds } from './parse-page.ts';
import { collections, type PageRecord, type PostingRecord } from './records.ts';

const IDS_PER_PASS = 1_000_000;

/**
 * Reports the postings that are on no page and those that are on two (L6); gives how many. Run only if something is
 * known to be wrong: it reads all ids once per million postings, so that its memory stays bounded.
 */
export async function checkPlacement(
  db: Db,
  session: ClientSession,
  findings: Findings,
  postingCount: number,
): Promise<number> {
  let named = 0;
  const name = (id: string, message: string): void => {
    named += 1;
    findings.report('L6', id, message);
  };
  const passes = Math.max(1, Math.ceil(postingCount / IDS_PER_PASS));
  for (let pass = 0; pass < passes; pass += 1) {
    const isOfPass = (id: string): boolean => passes === 1 || scatter(id) % passes === pass;
    const unplaced = new Set<string>();
    // Postings are read before pages, so that a posting written meanwhile is on a page that is read.
    const postings = db
      .collection<PostingRecord>(collections.postings)
      .find({}, { session, projection: { _id: 1 }, hint: { _id: 1 } });
    for await (const { _id } of postings) if (isOfPass(_id)) unplaced.add(_id);
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
    .find({}, { session, projection: { postings: 1 }, sort: { _id: 1 } });
  for await (const { _id: page, postings } of pages) {
    for (const id of pagePostingIds({ postings })) {
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
