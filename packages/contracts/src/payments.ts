import type { channels } from './http/payouts.ts';

/** The two directions in which a payment moves money. */
export const paymentKinds = ['payout', 'collection'] as const;

/** The direction in which a payment moves money. */
export type PaymentKind = (typeof paymentKinds)[number];

/** Whether payments go through: at once, later because nobody answers, or not because they are paused (contract 10.23). */
export const availabilityStatuses = ['OPERATIONAL', 'DELAYED', 'CLOSED'] as const;

/** Whether payments go through. */
export type AvailabilityStatus = (typeof availabilityStatuses)[number];

/** The channel of a payout (contract 2.2). */
export type PayoutChannel = (typeof channels)[number];

/** What a payout is to do, besides its reference and its amount (contract 2.2). */
export interface PayoutDetails {
  /** Three letters. */
  readonly country: string;
  readonly channel: PayoutChannel;
  readonly transactionType?: string | undefined;
  readonly beneficiary: {
    readonly accountName: string;
    readonly accountNumber: string;
    readonly bankCode: string;
    readonly phoneNumber?: string | undefined;
    readonly accountType?: string | undefined;
    readonly identificationType?: string | undefined;
    readonly identificationNumber?: string | undefined;
    readonly nationalIdNumber?: string | undefined;
    readonly narration?: string | undefined;
  };
  readonly sender: {
    readonly name: string;
    readonly email: string;
    readonly phoneNumber?: string | undefined;
    /** Three letters. */
    readonly countryCode?: string | undefined;
    readonly currencyCode?: string | undefined;
  };
}

/** What a collection is to do, besides its reference and its amount (contract 2.8). */
export interface CollectionDetails {
  readonly country: string;
  readonly operatorCode: string;
  readonly transactionType?: string | undefined;
  readonly customerNumber: string;
  readonly customerName?: string | undefined;
  readonly customerEmail?: string | undefined;
  readonly description?: string | undefined;
  readonly successUrl?: string | undefined;
  readonly errorUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
}
