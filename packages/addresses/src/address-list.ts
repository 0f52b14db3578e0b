import ipaddr from 'ipaddr.js';

/** A list of addresses and ranges of them. */
export type AddressList = ReturnType<typeof createAddressList>;

type Address = ipaddr.IPv4 | ipaddr.IPv6;

interface AddressRange {
  readonly first: Address;
  readonly prefixBits: number;
}

const IPV4_BITS = 32;
const IPV6_BITS = 128;
/** The longest one: an IPv6 address that ends as IPv4, and its prefix. */
const RANGE_LENGTH_MAX = 49;
const MEANT_AS_ADDRESS = /^(?:\d+(?:\.\d+)+|[0-9a-f]*:[0-9a-f:.]*)(?:\/[\d/a-f-]*)?$/i;
/** An IPv4 address mapped into IPv6 is the last 32 bits (RFC 4291). */
const MAPPED_PREFIX_BITS = IPV6_BITS - IPV4_BITS;

/**
 * Reads one IP address as a connection or a proxy writes it; undefined for any other text. An IPv4 address mapped
 * into IPv6 is unwrapped. Short, octal and hexadecimal spellings of IPv4 are not accepted.
 */
export function readAddress(text: string): Address | undefined {
  if (!text.includes(':'))
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : undefined;
  return ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : undefined;
}

/** Whether a text is an address, or a CIDR range (RFC 4632) without bits beyond its prefix. */
export function isAddressRange(text: string): boolean {
  return readRange(text) !== undefined;
}

/**
 * Whether a text was meant as an address or a range. Problems quote only such texts: any other may be a secret that
 * was set by mistake.
 */
export function hasAddressForm(text: unknown): text is string {
  return typeof text === 'string' && text.length <= RANGE_LENGTH_MAX && MEANT_AS_ADDRESS.test(text);
}

/**
 * Builds an {@link AddressList}; throws a RangeError that names the position of the first item that is no address or
 * range.
 */
export function createAddressList(ranges: readonly string[]) {
  const read = ranges.map((text, index) => {
    const range = readRange(text);
    if (range === undefined) throw new RangeError(`item ${index + 1} is no address and no CIDR range`);
    return range;
  });
  return {
    /** Whether an address is in the list; false for a text that is no address. */
    has: (text: string | undefined) => {
      const address = text === undefined ? undefined : readAddress(text);
      return address !== undefined && read.some((range) => contains(range, address));
    },
  };
}

function readRange(text: string): AddressRange | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const first = readAddress(address);
  if (first === undefined || rest.length > 0) return undefined;
  const bitsOfKind = first.kind() === 'ipv4' ? IPV4_BITS : IPV6_BITS;
  if (prefix === undefined) return { first, prefixBits: bitsOfKind };
  if (!/^\d{1,3}$/.test(prefix)) return undefined;
  const isMapped = first.kind() === 'ipv4' && address.includes(':');
  const prefixBits = Number(prefix) - (isMapped ? MAPPED_PREFIX_BITS : 0);
  const range = { first, prefixBits };
  return prefixBits >= 0 && prefixBits <= bitsOfKind && isFirst(range) ? range : undefined;
}

/** A range with bits beyond its prefix is a mistake, and a dangerous one if the prefix is short. */
function isFirst({ first, prefixBits }: AddressRange): boolean {
  return first.toByteArray().every((byte, index) => {
    const freeBits = Math.min(8, Math.max(0, (index + 1) * 8 - prefixBits));
    return byte % 2 ** freeBits === 0;
  });
}

function contains({ first, prefixBits }: AddressRange, address: Address): boolean {
  if (first instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(first, prefixBits);
  return address instanceof ipaddr.IPv6 && address.match(first, prefixBits);
}
