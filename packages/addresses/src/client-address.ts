import { readAddress } from './address-list.ts';

/**
 * The address of whoever sent a request, as far as it can be believed; nothing where it can't, which nobody may take
 * for an allowed one.
 *
 * Each trusted proxy appends the address that it saw, so with N of them the N-th entry of X-Forwarded-For from the right
 * is the sender's, and everything left of it is the sender's own invention (research/webhooks 5). Without a proxy the
 * header is never looked at.
 */
export function clientAddress(request: {
  /** The other end of the connection. */
  readonly peerAddress: string | undefined;
  /** The header X-Forwarded-For; several are joined by commas. */
  readonly forwardedFor: string | undefined;
  readonly trustedProxies: number;
}): string | undefined {
  const { peerAddress, forwardedFor, trustedProxies } = request;
  const text = trustedProxies === 0 ? peerAddress : forwardedFor?.split(',').at(-trustedProxies)?.trim();
  return text === undefined ? undefined : readAddress(text)?.toString();
}
