import { MIMEType } from 'node:util';

/** Reads a Content-Type (RFC 9110 8.3), whose parameters may be quoted; undefined if it is missing or malformed. */
export function readMediaType(header: string | undefined): MIMEType | undefined {
  try {
    return header === undefined ? undefined : new MIMEType(header);
  } catch {
    return undefined;
  }
}
