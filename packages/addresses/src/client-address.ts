import { type AddressList, readAddress } from './address-list.ts';

/**
 * The address of whoever sent a request, as far as it can be believed; nothing where it can't, which nobody may take
 * for an allowed one.
 *
 * Each trusted proxy appends the address that it saw, so with N of them the N-th entry of X-Forwarded-For from the right
 * is the sender's, and everything left of it is the sender's own invention (RFC 7239, 8.1). Without a proxy the
 * header is never looked at, nor where a peer that is none of `proxies` brings it: then nobody can tell who sent it.
 */
export function clientAddress(request: {
  /** The other end of the connection. */
  readonly peerAddress: string | undefined;
  /** The header X-Forwarded-For; several are joined by commas. */
  readonly forwardedFor: string | undefined;
  readonly trustedProxies: number;
  /** The proxies' own addresses, where they are known: X-Forwarded-For is believed only from one of them. */
  readonly proxies?: AddressList | undefined;
}): string | undefined {
  const { peerAddress, forwardedFor, trustedProxies, proxies } = request;
  if (trustedProxies > 0 && proxies !== undefined && !proxies.has(peerAddress)) return undefined;
  const text = trustedProxies === 0 ? peerAddress : forwardedFor?.split(',').at(-trustedProxies)?.trim();
  return text === undefined ? undefined : readAddress(text)?.toString();
}
