import { type AddressList, clientAddress, createAddressList, type TrustedProxies } from '@pesewa/addresses';
import type { KeyScope } from '@pesewa/contracts';
import { type Directory, DirectoryError, type KeyHolder, type Merchant } from '@pesewa/directory';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Context, MiddlewareHandler } from 'hono';
import { judgeSignature } from './request-signatures.ts';

/** The context of every route behind {@link authenticate}: the merchant whose key was sent. */
export interface AppEnv {
  readonly Variables: {
    merchant: Merchant;
    /** Of a signed request: whether these bytes are the body that was signed; set by {@link authenticate}. */
    isSignedBody?: ((bytes: Uint8Array) => boolean) | undefined;
  };
  /** What the HTTP server hands over. */
  readonly Bindings: {
    readonly incoming?: {
      /** The path and the query as they were sent. */
      readonly url?: string | undefined;
      readonly socket: { readonly remoteAddress?: string | undefined };
    };
  };
}

/** Why a request is refused before it is read. */
export type AuthenticationRefusal =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'suspended' }
  | { readonly kind: 'outOfScope' }
  | { readonly kind: 'wrongAddress'; readonly message: string }
  | { readonly kind: 'unsigned'; readonly message: string }
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'tooMany'; readonly waitSeconds: number };

/** The dependencies of authentication. */
export interface AuthenticationDeps {
  readonly identify: Directory['identify'];
  readonly proxies: TrustedProxies;
  readonly logger: Pick<Logger, 'error'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Counts a request of a merchant; gives the whole seconds to wait if it is one too many, else undefined. */
  readonly limitRequest: (merchant: Merchant) => Promise<number | undefined>;
}

/**
 * Lets a request in by its key, then by what the merchant and the key are permitted, then by its signature, then by the
 * merchant's rate, before its body is read (contract 10.2). Reading compares the body with its signature (`readJsonText`):
 * if it is not the one that was signed, the request is refused in place of what its route answered.
 *
 * @param api what a key must be for; how the API reads the key, undefined where its headers hold none; and how it
 *   refuses
 */
export function authenticate(
  deps: AuthenticationDeps,
  api: {
    readonly scope: KeyScope;
    readonly keyOf: (context: Context<AppEnv>) => string | undefined;
    readonly refuse: (context: Context<AppEnv>, refusal: AuthenticationRefusal) => Response;
  },
): MiddlewareHandler<AppEnv> {
  const nowMs = deps.clock.nowMs;
  const identify = (key: string) =>
    deps.identify(key).catch((error: unknown) => {
      // A merchant that is stored wrongly is a defect.
      if (error instanceof DirectoryError) throw error;
      deps.logger.error({ err: error }, 'a merchant could not be read');
      return 'unavailable' as const;
    });
  const isFromAllowed = createOriginJudge();
  const judge = async (context: Context<AppEnv>): Promise<Admitted | AuthenticationRefusal> => {
    const key = api.keyOf(context);
    if (key === undefined) return { kind: 'unknown' };
    const holder = await identify(key);
    // That the directory can't be reached is no reason to refuse a key.
    if (holder === 'unavailable') return { kind: 'unavailable' };
    if (!holder) return { kind: 'unknown' };
    const { merchant } = holder;
    const forbidden = judgePermission(holder, api.scope);
    if (forbidden) return forbidden;
    if (merchant.allowedAddresses.length > 0) {
      const from = senderOf(context, deps.proxies);
      if (!isFromAllowed(merchant, from)) return wrongAddress(from);
    }
    const signature = judgeSignature(context, merchant.signing, nowMs());
    if (!signature.ok) return { kind: 'unsigned', message: signature.refusal };
    const waitSeconds = await deps.limitRequest(merchant);
    return waitSeconds === undefined
      ? { merchant, isSignedBody: signature.value }
      : { kind: 'tooMany', waitSeconds };
  };
  return async (context, next) => {
    const judged = await judge(context);
    if ('kind' in judged) return api.refuse(context, judged);
    const { merchant, isSignedBody } = judged;
    context.set('merchant', merchant);
    let isOtherBody = false;
    if (isSignedBody)
      context.set('isSignedBody', (bytes) => {
        isOtherBody = !isSignedBody(bytes);
        return !isOtherBody;
      });
    await next();
    if (isOtherBody) context.res = api.refuse(context, { kind: 'unsigned', message: OTHER_BODY });
    return undefined;
  };
}

const OTHER_BODY =
  'X-digest is not that of the body: take the SHA-256 of exactly the bytes that you send, and sign it';

/** A request that is let in. */
interface Admitted {
  readonly merchant: Merchant;
  /** Absent if the request is not signed. */
  readonly isSignedBody: ((bytes: Uint8Array) => boolean) | undefined;
}

/** Why a known key may not do what it is used for; undefined if it may. */
function judgePermission({ merchant, key }: KeyHolder, scope: KeyScope): AuthenticationRefusal | undefined {
  if (merchant.status !== 'active') return { kind: 'suspended' };
  if (!key.scopes.includes(scope)) return { kind: 'outOfScope' };
  return undefined;
}

/** Whether a request may come from an address; undefined is never allowed. Lists are read once for each merchant that is cached. */
function createOriginJudge(): (merchant: Merchant, from: string | undefined) => boolean {
  const lists = new WeakMap<Merchant, AddressList>();
  return (merchant, from) => {
    const list = lists.get(merchant) ?? createAddressList(merchant.allowedAddresses);
    lists.set(merchant, list);
    return list.has(from);
  };
}

/** The address of a request's sender; undefined if it is unknown, as without a connection. */
function senderOf(context: Context<AppEnv>, proxies: TrustedProxies): string | undefined {
  return clientAddress({
    ...proxies,
    // An app that is called without a server has no environment.
    peerAddress: context.env?.incoming?.socket.remoteAddress,
    forwardedFor: context.req.header('x-forwarded-for'),
  });
}

/** Names the sender's own address and nothing of the list. */
function wrongAddress(from: string | undefined): AuthenticationRefusal {
  const sender = from ?? 'an unknown address';
  return {
    kind: 'wrongAddress',
    message: `requests from ${sender} are not allowed for this merchant: ask your operator to allow the address`,
  };
}
