import { type Directory, DirectoryError, type Merchant } from '@pesewa/directory';
import type { Logger } from '@pesewa/runtime';
import type { Context, MiddlewareHandler } from 'hono';

/** The context of every route behind {@link authenticate}: the merchant whose key was sent. */
export interface AppEnv {
  readonly Variables: { merchant: Merchant };
}

/** Why a request is refused before it is read. */
export type AuthenticationRefusal =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'tooMany'; readonly waitSeconds: number };

/** The dependencies of authentication. */
export interface AuthenticationDeps {
  readonly identify: Directory['identify'];
  readonly logger: Pick<Logger, 'error'>;
  /** Counts a request of a merchant; gives the whole seconds to wait if it is one too many, else undefined. */
  readonly limitRequest: (merchant: Merchant) => Promise<number | undefined>;
}

/**
 * Lets a request in by its key, then by its merchant's permission and rate, before its body is read (contract 10.2).
 *
 * @param api how an API reads the key, undefined where its headers can name nobody; and how it refuses
 */
export function authenticate(
  deps: AuthenticationDeps,
  api: {
    readonly keyOf: (context: Context<AppEnv>) => string | undefined;
    readonly refuse: (context: Context<AppEnv>, refusal: AuthenticationRefusal) => Response;
  },
): MiddlewareHandler<AppEnv> {
  const identify = (key: string) =>
    deps.identify(key).catch((error: unknown) => {
      // A merchant that is stored wrongly is a defect.
      if (error instanceof DirectoryError) throw error;
      deps.logger.error({ err: error }, 'a merchant could not be read');
      return 'unavailable' as const;
    });
  const judge = async (key: string | undefined): Promise<Merchant | AuthenticationRefusal> => {
    if (key === undefined) return { kind: 'unknown' };
    const merchant = await identify(key);
    // That the directory can't be reached is no reason to refuse a key.
    if (merchant === 'unavailable') return { kind: 'unavailable' };
    if (!merchant) return { kind: 'unknown' };
    if (merchant.status !== 'active') return { kind: 'suspended' };
    const waitSeconds = await deps.limitRequest(merchant);
    return waitSeconds === undefined ? merchant : { kind: 'tooMany', waitSeconds };
  };
  return async (context, next) => {
    const judged = await judge(api.keyOf(context));
    if ('kind' in judged) return api.refuse(context, judged);
    context.set('merchant', judged);
    await next();
    return undefined;
  };
}
