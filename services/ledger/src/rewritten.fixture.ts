import { pageId, postingText } from '@pesewa/contracts';
import type { AuditedLedger } from './audited.fixture.ts';
import type { PostingDocument } from './documents.ts';
import { available, held } from './domain/posting.fixture.ts';
import {
  changePage,
  changePosting,
  type InjectedFault,
  pageAgain,
  pages,
  payoutsChain,
  postAt,
  postings,
  postNext,
  unvalidated,
  wallet,
  wallets,
} from './fault-injection.fixture.ts';

const holding = { kind: 'hold', debit: available, credit: held, amount: 1_010n } as const;
const pageTwo = pageId(payoutsChain, 2n);
const TOMORROW_MS = 86_400_000;
const S = '\u001f';

async function findPosting(books: AuditedLedger, _id: string): Promise<PostingDocument> {
  const found = await books.ledger.collection<PostingDocument>('postings').findOne({ _id });
  if (!found) throw new Error('the posting is gone');
  return found;
}

/** Removes a posting, which may not touch a wallet, and puts its text into the last field of the one before it. */
async function hidePosting(books: AuditedLedger, page: string, keptId: string, hiddenId: string) {
  const [kept, hidden] = [await findPosting(books, keptId), await findPosting(books, hiddenId)];
  const last = kept.entries.at(-1);
  const text = postingText(hidden);
  // The hidden one's amount follows.
  const credit = [last?.credit, `${last?.amount}\n${text.length}`, text.slice(0, text.lastIndexOf(S))].join(
    S,
  );
  const entries = [...kept.entries.slice(0, -1), { ...last, credit, amount: hidden.entries.at(-1)?.amount }];
  await changePosting(books, keptId, { entries });
  await postings(books).deleteOne({ _id: hiddenId });
  await pages(books).updateOne({ _id: page }, { $pull: { postings: hiddenId } as object }, unvalidated);
}

/** Removes the last entry of a posting, and puts its text into the one before it. */
async function hideEntry(books: AuditedLedger, id: string) {
  const { entries } = await findPosting(books, id);
  const [before, last] = entries.slice(-2);
  const credit = [before?.credit, before?.amount, last?.kind, last?.debit, last?.credit].join(S);
  const hiding = [...entries.slice(0, -2), { ...before, credit, amount: last?.amount }];
  await changePosting(books, id, { entries: hiding });
}

/** Adds to a posting what is no entry. */
async function addNoEntry(books: AuditedLedger, id: string, added: unknown) {
  const { entries } = await findPosting(books, id);
  await changePosting(books, id, { entries: [added, ...entries] });
}

/** Chains that were rewritten so that their hashes still match. */
export const rewritings: readonly InjectedFault[] = [
  [
    'a posting hidden in a field of another',
    'L6',
    pageId('ledgerCommands/0', 2n),
    (books) => hidePosting(books, pageId('ledgerCommands/0', 2n), 'cm-5/adjust', 'cm-6/suspense'),
  ],
  [
    'an entry hidden in a field of another',
    'L6',
    pageId('collections/0', 1n),
    (books) => hideEntry(books, 'co-1/collect'),
  ],
  [
    'a control character in a text',
    'L6',
    'po-6/hold',
    (books) => postNext(books, { ...holding, reference: 'po-6', causationId: 'ev\n6' }),
  ],
  [
    'a field that no hash covers',
    'L6',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { note: 'paid twice' }),
  ],
  [
    'a field of an entry that no hash covers',
    'L6',
    'po-1/capture',
    (books) => changePosting(books, 'po-1/capture', { 'entries.1.note': 'paid twice' }),
  ],
  [
    'a posting without a list of entries',
    'L6',
    'po-1/hold',
    (books) => changePosting(books, 'po-1/hold', { entries: 'none' }),
    `L6 ${pageId(payoutsChain, 1n)}`,
  ],
  [
    'a field of a page that no hash covers',
    'L6',
    pageTwo,
    (books) => changePage(books, pageTwo, { note: 'paid twice' }),
  ],
  [
    'a posting on two pages evened out by a stray one',
    'L6',
    'cm-3/fundFloat',
    async (books) => {
      await pageAgain(books, 'cm-3/fundFloat', 'payouts/7');
      const like = await postings(books).findOne({ _id: 'cm-3/fundFloat' });
      await postings(books).insertOne({ ...like, _id: 'cm-7/fundFloat' });
    },
  ],
  [
    'a chain of a partition that is none',
    'L6',
    pageId('payouts/8', 1n),
    (books) => pageAgain(books, 'cm-3/fundFloat', 'payouts/8'),
  ],
  [
    'a page under an id that is none',
    'L6',
    'zzz',
    async (books) => {
      const page = await pages(books).findOne({ _id: pageTwo });
      await pages(books).insertOne({ ...page, _id: 'zzz' });
    },
  ],
  ...(
    [
      { chain: 'payouts/1' },
      { chain: 'aaa' },
      { number: 9n },
      { at: 'yesterday' },
      { at: new Date(0) },
      { hash: 'none' },
      { previous: 7n },
      { postings: 'none' },
      { postings: [5n] },
      { accounts: 'none' },
      { accounts: [null] },
    ] as const
  ).map(
    (change): InjectedFault => [
      `a page with another ${JSON.stringify(change, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))}`,
      'L6',
      pageTwo,
      (books) => changePage(books, pageTwo, change),
    ],
  ),
  ...[null, 'nothing'].map(
    (added): InjectedFault => [
      `what is no entry in a posting: ${added}`,
      'L6',
      'po-1/hold',
      (books) => addNoEntry(books, 'po-1/hold', added),
      `L6 ${pageId(payoutsChain, 1n)}`,
    ],
  ),
  [
    'a page of tomorrow',
    'L6',
    pageId(payoutsChain, 5n),
    (books) => postAt(books, Date.now() + TOMORROW_MS, { ...holding, reference: 'po-6' }),
  ],
  [
    'a wallet of another time',
    'L3',
    wallet,
    (books) => wallets(books).updateOne({ _id: wallet }, { $set: { at: new Date() } }),
  ],
];
