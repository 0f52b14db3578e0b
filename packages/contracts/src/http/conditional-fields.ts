import type { PayoutDetails } from '../payments.ts';

/** The fields of a payout that the conditions of contract 2.2 depend on; codes are in capitals. */
type Conditional = Pick<PayoutDetails, 'country' | 'transactionType' | 'beneficiary' | 'sender'> & {
  readonly currency: string;
};

/** When a field is required. */
interface Condition {
  readonly applies: (payout: Conditional) => boolean;
  readonly when: string;
}

const inKesOrXaf: Condition = {
  applies: ({ currency }) => currency === 'KES' || currency === 'XAF',
  when: 'a payout in KES or XAF',
};
const lowRiskInKes: Condition = {
  applies: ({ currency, transactionType }) => currency === 'KES' && transactionType === '2',
  when: 'a low-risk KES payout',
};
const toSouthAfrica: Condition = {
  applies: ({ country }) => country === 'ZAF',
  when: 'a payout to South Africa',
};
const inEgp: Condition = { applies: ({ currency }) => currency === 'EGP', when: 'a payout in EGP' };
const inXaf: Condition = { applies: ({ currency }) => currency === 'XAF', when: 'a payout in XAF' };

/** The fields of contract 2.2 that are required under a condition, each with its path. */
const rules: readonly (readonly [
  path: string,
  read: (payout: Conditional) => string | undefined,
  condition: Condition,
])[] = [
  ['transactionType', (payout) => payout.transactionType, inKesOrXaf],
  ['beneficiary.phoneNumber', ({ beneficiary }) => beneficiary.phoneNumber, lowRiskInKes],
  ['beneficiary.accountType', ({ beneficiary }) => beneficiary.accountType, toSouthAfrica],
  ['beneficiary.identificationType', ({ beneficiary }) => beneficiary.identificationType, toSouthAfrica],
  ['beneficiary.identificationNumber', ({ beneficiary }) => beneficiary.identificationNumber, toSouthAfrica],
  ['beneficiary.nationalIdNumber', ({ beneficiary }) => beneficiary.nationalIdNumber, inEgp],
  ['sender.phoneNumber', ({ sender }) => sender.phoneNumber, inXaf],
  ['sender.countryCode', ({ sender }) => sender.countryCode, inKesOrXaf],
  ['sender.currencyCode', ({ sender }) => sender.currencyCode, inKesOrXaf],
];

/**
 * A sentence about the first field of a single payout that its currency or country requires and that is absent or empty
 * (contract 2.2). Items of a batch need none of these fields (contract 2.3).
 */
export function missingConditionalField(payout: Conditional): string | undefined {
  for (const [path, read, { applies, when }] of rules)
    if (applies(payout) && !read(payout)) return `${path} is required for ${when}`;
  return undefined;
}
