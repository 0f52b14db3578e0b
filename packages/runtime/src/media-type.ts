import { MIMEType } from 'node:util';

/** Longer than any that means something; the parser takes quadratic time. */
const LENGTH_MAX = 256;

/** Reads a Content-Type (RFC 9110 8.3), whose parameters may be quoted; undefined if it is missing, malformed or very long. */
export function readMediaType(header: string | undefined): MIMEType | undefined {
  try {
    return header === undefined || header.length > LENGTH_MAX ? undefined : new MIMEType(header);
  } catch {
    return undefined;
  }
}
