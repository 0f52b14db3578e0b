/**
 * The fields of a payout that the conditions of contract 2.2 depend on; the country has three letters, codes are in
 * capitals.
 */
export interface ConditionalOrder {
  readonly country: string;
  readonly currency: string;
  readonly transactionType?: string | undefined;
  readonly beneficiary: {
    readonly phoneNumber?: string | undefined;
    readonly accountType?: string | undefined;
    readonly identificationType?: string | undefined;
    readonly identificationNumber?: string | undefined;
    readonly nationalIdNumber?: string | undefined;
  };
  readonly sender: {
    readonly phoneNumber?: string | undefined;
    readonly countryCode?: string | undefined;
    readonly currencyCode?: string | undefined;
  };
}

interface Rule {
  readonly path: string;
  readonly read: (order: ConditionalOrder) => string | undefined;
  readonly applies: (order: ConditionalOrder) => boolean;
  /** When the field is required, in words. */
  readonly when: string;
}

const inKesOrXaf = ({ currency }: ConditionalOrder): boolean => currency === 'KES' || currency === 'XAF';
const toSouthAfrica = ({ country }: ConditionalOrder): boolean => country === 'ZAF';

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
    applies: ({ currency, transactionType }) => currency === 'KES' && transactionType === '2',
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
    applies: ({ currency }) => currency === 'EGP',
    when: 'a payout in EGP',
  },
  {
    path: 'sender.phoneNumber',
    read: (order) => order.sender.phoneNumber,
    applies: ({ currency }) => currency === 'XAF',
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

/**
 * A sentence about the first field of a single payout that its currency or country requires and that is absent or empty
 * (contract 2.2). Items of a batch need none of these fields (contract 2.3).
 */
export function missingConditionalField(order: ConditionalOrder): string | undefined {
  const missing = rules.find((rule) => rule.applies(order) && !rule.read(order));
  return missing && `${missing.path} is required for ${missing.when}`;
}
