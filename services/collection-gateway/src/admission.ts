import type { Directory, Merchant } from '@pesewa/directory';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { createMerchantLookup } from '@pesewa/merchant-api';
import type { Logger } from '@pesewa/runtime';
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from './answers.ts';

/** Why a request is refused before it is read; strangers and suspended merchants get the same answer. */
export type AdmissionRefusal =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'tooMany'; readonly waitSeconds: number };

/** The dependencies of admission. */
export interface AdmissionDeps {
  readonly identify: Directory['identify'];
  /** Counts a request of a merchant; gives the whole seconds to wait if it is one too many, else undefined. */
  readonly countRequest: (merchant: Merchant) => Promise<number | undefined>;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Admits a request by its `X-app` and `X-business` (contract 5), then by its merchant's rate, before its body is read
 * (contract 10.2); the route's own answer says why not.
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
