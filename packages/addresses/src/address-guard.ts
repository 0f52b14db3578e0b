import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { accept, type Result, refuse } from '@pesewa/kernel';
import ipaddr from 'ipaddr.js';
import type { ResolveName } from './name-resolver.ts';

/** Why an address gets no webhook; names the rule, never the address. */
export type AddressRefusal =
  | 'address.malformed'
  | 'address.not_https'
  | 'address.port'
  | 'address.credentials'
  | 'address.not_public';

/** What an address that gets no webhook must be like, to follow the name of its field. */
export const addressProblems: Readonly<Record<AddressRefusal, string>> = {
  'address.malformed': 'must be an address without spaces, of at most 2,048 characters',
  'address.not_https': 'must begin with https://',
  'address.port': 'must have no port: webhooks go to 443',
  'address.credentials': 'must have no user and no password',
  'address.not_public': 'must name a host of the public internet',
};

/** An address that may be called; `listed` ones are in WEBHOOK_ALLOWED_ORIGINS and skip the checks at connect. */
export interface CheckedAddress {
  readonly url: URL;
  readonly listed: boolean;
}

const URL_LENGTH_MAX = 2_048;
/**
 * A URL parser drops some of these characters silently and reads a backslash as a slash. The parsed address must be
 * the written one, so they are refused.
 */
const AMBIGUOUS = /[\u0000-\u0020\\\u007f]/;
const INNER_NAMES =
  /(?:^|\.)(?:localhost|local|internal|svc|cluster|localdomain|home|lan|corp|intranet|onion)$|\.cluster\.local$|\.arpa$/;

/**
 * Judges a merchant's address, where a request names it and again before anything is sent (contract 10.15, OWASP
 * API7:2023): https on port 443 to a public name or address, or an origin that the operator listed exactly.
 */
export function checkAddress(
  text: string,
  allowedOrigins: readonly string[],
): Result<CheckedAddress, AddressRefusal> {
  const read = readHttpUrl(text);
  if (!read.ok) return read;
  const url = read.value;
  if (allowedOrigins.includes(url.origin)) return accept({ url, listed: true });
  if (url.protocol !== 'https:') return refuse('address.not_https');
  // A parser leaves out the scheme's own port.
  if (url.port !== '') return refuse('address.port');
  return isPublicHost(url.hostname) ? accept({ url, listed: false }) : refuse('address.not_public');
}

/** Reads an address of http or https without a user or a password, wherever it leads. */
export function readHttpUrl(text: string): Result<URL, AddressRefusal> {
  if (text.length > URL_LENGTH_MAX || AMBIGUOUS.test(text) || !URL.canParse(text))
    return refuse('address.malformed');
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return refuse('address.credentials');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refuse('address.not_https');
  return accept(url);
}

/** Whether a URL's host may lie on the public internet: judged as the parser wrote it, literal or name. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  if (ipaddr.isValid(host)) return isPublicAddress(host);
  return host.includes('.') && !INNER_NAMES.test(host);
}

const globalUnicast = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/**
 * Whether an IP address is public: unicast by the registries' ranges. An IPv4 address mapped into IPv6 is unwrapped
 * first; addresses that wrap one in another way (NAT64, 6to4, Teredo, compatible) are never public.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalUnicast, GLOBAL_UNICAST_BITS);
}

/** A connection that was not made, because it would have left the public internet. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/**
 * Resolves names for connections, each within a time. A name is refused as soon as one of its addresses is not public.
 *
 * The connection uses the addresses that were checked, so a name that changes in between gains nothing.
 */
export function createGuardedLookup(resolveName: ResolveName, timeoutMs: number): LookupFunction {
  const resolve = callbackify(async (hostname: string) => {
    const addresses = await resolveName(hostname, AbortSignal.timeout(timeoutMs));
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      throw new AddressRefusedError('the name leads to an address that is not public');
    return { first, addresses };
  });
  return (hostname, options, callback) =>
    resolve(hostname, (error, found) => {
      if (error) callback(error, '', 0);
      else if (options.all === true) callback(null, [...found.addresses]);
      else callback(null, found.first.address, found.first.family);
    });
}
