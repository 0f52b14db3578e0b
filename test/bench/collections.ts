import { collectionBody, payinHeaders } from '@pesewa/contracts';
import type { Bench } from './bench.ts';
import { customers, stkRequest } from './collection-requests.ts';
import { measureLives } from './lifecycle-run.ts';

/**
 * Complete collections per second: initiated at the rail by STK push, paid, called back, credited and reported to the
 * merchant.
 */
export const benchCollections: Bench = (options) =>
  measureLives(options, {
    name: 'collections',
    one: 'collection',
    about: 'by STK push from payin to webhook',
    requests: (stack, { publicKey }, reference) => {
      const customerNumber = customers();
      return {
        url: `${stack.url('collection-gateway')}/collection/v1/payin`,
        headers: {},
        body: () => {
          const request = stkRequest(reference(), customerNumber());
          return { text: collectionBody(request), headers: payinHeaders(publicKey, request) };
        },
      };
    },
  });
