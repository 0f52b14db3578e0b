import type { PayoutDetails } from '../payments.ts';

/** The fields of a payout that the conditions of contract 2.2 depend on; codes are in capitals. */
type Conditional = Pick<PayoutDetails, 'country' | 'transactionType' | 'beneficiary' | 'sender'> & {
  readonly currency: string;
};

interface Rule {
  readonly path: string;
  readonly read: (payout: Conditional) => string | undefined;
  readonly applies: (payout: Conditional) => boolean;
  /** When the field is required, in words. */
  readonly when: string;
}

const inKesOrXaf = ({ currency }: Conditional): boolean => currency === 'KES' || currency === 'XAF';
const toSouthAfrica = ({ country }: Conditional): boolean => country === 'ZAF';

/** The fields of contract 2.2 that are required under a condition. */
const rules: readonly Rule[] = [
  {
    path: 'transactionType',
    read: (payout) => payout.transactionType,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
  {
    path: 'beneficiary.phoneNumber',
    read: (payout) => payout.beneficiary.phoneNumber,
    applies: ({ currency, transactionType }) => currency === 'KES' && transactionType === '2',
    when: 'a low-risk KES payout',
  },
  {
    path: 'beneficiary.accountType',
    read: (payout) => payout.beneficiary.accountType,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.identificationType',
    read: (payout) => payout.beneficiary.identificationType,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.identificationNumber',
    read: (payout) => payout.beneficiary.identificationNumber,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.nationalIdNumber',
    read: (payout) => payout.beneficiary.nationalIdNumber,
    applies: ({ currency }) => currency === 'EGP',
    when: 'a payout in EGP',
  },
  {
    path: 'sender.phoneNumber',
    read: (payout) => payout.sender.phoneNumber,
    applies: ({ currency }) => currency === 'XAF',
    when: 'a payout in XAF',
  },
  {
    path: 'sender.countryCode',
    read: (payout) => payout.sender.countryCode,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
  {
    path: 'sender.currencyCode',
    read: (payout) => payout.sender.currencyCode,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
];

/**
 * A sentence about the first field of a single payout that its currency or country requires and that is absent or empty
 * (contract 2.2). Items of a batch need none of these fields (contract 2.3).
 */
export function missingConditionalField(payout: Conditional): string | undefined {
  const missing = rules.find((rule) => rule.applies(payout) && !rule.read(payout));
  return missing && `${missing.path} is required for ${missing.when}`;
}
