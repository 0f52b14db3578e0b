import { type AddressList, readAddress } from './address-list.ts';

/** Our own proxies between senders and a service. */
export interface TrustedProxies {
  /** How many of them a request passes. */
  readonly trustedProxies: number;
  /** Their own addresses, if they are known: X-Forwarded-For is trusted only from one of them. */
  readonly proxies?: AddressList | undefined;
}

/**
 * The address of a request's sender; undefined if it can't be trusted, which must never count as an allowed address.
 *
 * Each trusted proxy appends the address that it saw, so with N of them the N-th entry of X-Forwarded-For from the
 * right is the sender's, and the sender can write anything to the left of it (RFC 7239, 8.1). The header is
 * ignored if no proxy is trusted. If it comes from a peer that is none of `proxies`, the sender is unknown.
 */
export function clientAddress(
  request: TrustedProxies & {
    /** The other end of the connection. */
    readonly peerAddress: string | undefined;
    /** The header X-Forwarded-For; several headers are joined by commas. */
    readonly forwardedFor: string | undefined;
  },
): string | undefined {
  const { peerAddress, forwardedFor, trustedProxies, proxies } = request;
  if (trustedProxies > 0 && proxies !== undefined && !proxies.has(peerAddress)) return undefined;
  const text = trustedProxies === 0 ? peerAddress : forwardedFor?.split(',').at(-trustedProxies)?.trim();
  return text === undefined ? undefined : readAddress(withoutPort(text))?.toString();
}

/** Some proxies append the sender's port, and then write an IPv6 address in brackets (RFC 7239, 6). */
function withoutPort(text: string): string {
  const [, ipv4, ipv6] = /^(?:([\d.]+):\d{1,5}|\[([\da-f:.]+)\](?::\d{1,5})?)$/i.exec(text) ?? [];
  // Only an IPv6 address has colons: one of IPv4 in brackets is none.
  return ipv4 ?? (ipv6?.includes(':') ? ipv6 : text);
}
