import type { Ids } from './ids.ts';

/** Version 00 of W3C Trace Context, or the part of a later one that reads the same. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Half of an identifier's hexadecimal digits, the more random half: what a parent id takes. */
const PARENT_HEX = 16;

/**
 * A new trace, as the `traceparent` of W3C Trace Context. It is not sampled: where spans are recorded, a request's
 * trace begins with its span.
 */
export function beginTrace(ids: Ids): string {
  const id = ids.next('tr').slice('tr-'.length);
  return `00-${id}-${id.slice(PARENT_HEX)}-00`;
}

/**
 * The trace of a request: the one in its `traceparent` if that is valid, else a new one. It is passed on unchanged, a
 * later version in the form of 00. Where spans are recorded, the header given here is that of the request's span.
 */
export function continueTrace(header: string | undefined, ids: Ids): string {
  const [, version, trace, parent, flags, rest] = TRACEPARENT.exec(header ?? '') ?? [];
  if (trace === undefined || (version === '00' && rest !== undefined)) return beginTrace(ids);
  return `00-${trace}-${parent}-${flags}`;
}
