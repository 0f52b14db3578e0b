import type { CollectionRequest } from '@pesewa/stack';

/** A single-step STK push in Cote d'Ivoire. */
export function stkRequest(reference: string, customerNumber: string): CollectionRequest {
  return {
    reference,
    amount: '1500',
    operatorCode: 'CIMTN',
    currency: 'XOF',
    country: 'CI',
    customerNumber,
  };
}

const CUSTOMERS = 900_000;
const FIRST_CUSTOMER = 100_000;
/** Makes the last four digits differ from those that choose a scenario of the simulator. */
const ORDINARY = '5000';

/** Gives one customer's number after the other, all of whom pay. */
export function customers(): () => string {
  let count = 0;
  return () => {
    count = (count + 1) % CUSTOMERS;
    return `225${FIRST_CUSTOMER + count}${ORDINARY}`;
  };
}
