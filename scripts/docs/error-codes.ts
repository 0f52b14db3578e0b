import { collectionRefusals, type ErrorCode, payoutCodes } from '@pesewa/contracts';
import { renderTable } from './markdown.ts';

type Named = readonly (readonly [code: string, terms: ErrorCode])[];

const payouts: Named = Object.values(payoutCodes).map((terms) => [terms.code, terms]);
const collections: Named = Object.entries(collectionRefusals);

const cellsOf = ([code, { meaning, definitive, remedy }]: Named[number]) =>
  [`\`${code}\``, meaning, definitive ? 'yes' : '–', remedy] as const;

const forMerchants = (title: string, codes: Named) =>
  renderTable([title, 'meaning', 'final', 'what to do'], codes.map(cellsOf));

/** The codes that an operator can do something about; the merchants' pages have the rest. */
const forOperators = (title: string, codes: Named) =>
  renderTable(
    [title, 'meaning', 'what the operator does'],
    codes.flatMap(([code, { meaning, operator }]) =>
      operator === undefined ? [] : [[`\`${code}\``, meaning, operator]],
    ),
  );

/** The tables of error codes, by document and the name of their markers in it. */
export const errorTables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/api/errors.md': { 'payout-codes': forMerchants('code', payouts) },
  'docs/api/collections.md': { 'collection-refusals': forMerchants('failedReason', collections) },
  'docs/failure-modes.md': {
    'payout-codes': forOperators('code', payouts),
    'collection-refusals': forOperators('failedReason', collections),
  },
};
