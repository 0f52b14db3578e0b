import type { Directory, Merchant } from '@pesewa/directory';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createMerchantLookup } from '@pesewa/merchant-api';
import type { Logger } from '@pesewa/runtime';
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from './answers.ts';

/** Why a request is not looked at any further; strangers and suspended merchants are told the same. */
export type AdmissionRefusal =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'tooMany'; readonly waitSeconds: number };

/** What admission needs. */
export interface AdmissionDeps {
  readonly identify: Directory['identify'];
  /** Counts a request of a merchant: whole seconds to wait where it is one too many, else nothing. */
  readonly countRequest: (merchant: Merchant) => Promise<number | undefined>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Lets a request in by its `X-app` and `X-business` (contract 5), then by its merchant's rate, before its body is read
 * (contract 10.2); the route's own shape tells why not.
 */
export function admitMerchants(
  deps: AdmissionDeps,
  refused: (context: Context<AppEnv>, refusal: AdmissionRefusal) => Response,
): MiddlewareHandler<AppEnv> {
  const admit = createAdmit(deps);
  return async (context, next) => {
    const admitted = await admit(context.req.header('x-app'), context.req.header('x-business'));
    if (!admitted.ok) return refused(context, admitted.refusal);
    context.set('merchant', admitted.value);
    await next();
    return undefined;
  };
}

function createAdmit(deps: AdmissionDeps) {
  const lookUp = createMerchantLookup(deps);
  return async (
    app: string | undefined,
    business: string | undefined,
  ): Promise<Result<Merchant, AdmissionRefusal>> => {
    if (app !== 'api' || business === undefined) return refuse({ kind: 'unknown' });
    const identified = await lookUp(business);
    if (identified === 'unavailable') return refuse({ kind: 'unavailable' });
    const { merchant } = identified;
    if (merchant?.status !== 'active') return refuse({ kind: 'unknown' });
    const waitSeconds = await deps.countRequest(merchant);
    return waitSeconds === undefined ? accept(merchant) : refuse({ kind: 'tooMany', waitSeconds });
  };
}
