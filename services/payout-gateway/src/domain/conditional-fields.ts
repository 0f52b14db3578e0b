import type { PayoutOrder } from './submission.ts';

interface Rule {
  readonly path: string;
  readonly read: (order: PayoutOrder) => string | undefined;
  readonly applies: (order: PayoutOrder) => boolean;
  /** When it is required, in words. */
  readonly when: string;
}

const inKesOrXaf = ({ amount }: PayoutOrder): boolean =>
  amount.currency === 'KES' || amount.currency === 'XAF';
const toSouthAfrica = ({ country }: PayoutOrder): boolean => country === 'ZAF';

/** The fields of contract 2.2 that are required under a condition. */
const rules: readonly Rule[] = [
  {
    path: 'transactionType',
    read: (order) => order.transactionType,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
  {
    path: 'beneficiary.phoneNumber',
    read: (order) => order.beneficiary.phoneNumber,
    applies: ({ amount, transactionType }) => amount.currency === 'KES' && transactionType === '2',
    when: 'a low-risk KES payout',
  },
  {
    path: 'beneficiary.accountType',
    read: (order) => order.beneficiary.accountType,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.identificationType',
    read: (order) => order.beneficiary.identificationType,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.identificationNumber',
    read: (order) => order.beneficiary.identificationNumber,
    applies: toSouthAfrica,
    when: 'a payout to South Africa',
  },
  {
    path: 'beneficiary.nationalIdNumber',
    read: (order) => order.beneficiary.nationalIdNumber,
    applies: ({ amount }) => amount.currency === 'EGP',
    when: 'a payout in EGP',
  },
  {
    path: 'sender.phoneNumber',
    read: (order) => order.sender.phoneNumber,
    applies: ({ amount }) => amount.currency === 'XAF',
    when: 'a payout in XAF',
  },
  {
    path: 'sender.countryCode',
    read: (order) => order.sender.countryCode,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
  {
    path: 'sender.currencyCode',
    read: (order) => order.sender.currencyCode,
    applies: inKesOrXaf,
    when: 'a payout in KES or XAF',
  },
];

/** The first field of a single payout that its currency or country requires and that is absent, as a sentence. */
export function missingField(order: PayoutOrder): string | undefined {
  const missing = rules.find((rule) => rule.applies(order) && rule.read(order) === undefined);
  return missing && `${missing.path} is required for ${missing.when}`;
}
