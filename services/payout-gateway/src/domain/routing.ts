import { unreachable } from '@pesewa/kernel';
import type { PayoutRequest, RequestRefusal } from './request.ts';

/** The fields that a payout is routed by. */
export interface RouteQuery extends Pick<PayoutRequest, 'country' | 'channel'> {
  readonly currency: string;
  readonly bankCode: string;
}

/** The route of a payout, or why it has none; `unavailable` means that this can't be decided now. */
export type Route =
  | { readonly kind: 'routed'; readonly rail: string }
  | { readonly kind: 'noRoute' }
  | { readonly kind: 'noProcessor'; readonly why: 'unknown' | 'inactive' | 'blocked' }
  | { readonly kind: 'unavailable' };

/** The refusal for a missing route; `path` names the field with the processor's code. */
export function noRouteRefusal(
  route: Exclude<Route, { readonly kind: 'routed' }>,
  { channel, country, currency }: Omit<RouteQuery, 'bankCode'>,
  path: string,
): RequestRefusal {
  switch (route.kind) {
    case 'noRoute':
      return { code: 'noRoute', message: `no route for ${channel} in ${country} with ${currency}` };
    case 'noProcessor':
      return { code: 'noRoute', message: processorProblem(path, route.why, country) };
    case 'unavailable':
      return {
        code: 'unavailable',
        message: 'the list of processors is not available at present: nothing is stored, try again',
      };
    default:
      return unreachable(route);
  }
}

/** What is wrong with a processor's code in this field, and where the right ones are. */
export function processorProblem(path: string, why: string, country: string): string {
  return `${path} names a processor that is ${why}: GET /api/v1/banks?country=${country} lists those that there are`;
}
