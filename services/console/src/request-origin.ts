import { createHash, timingSafeEqual } from 'node:crypto';

/** What a request says about where it comes from. */
export interface Origin {
  /** The header Sec-Fetch-Site, which pages can't forge. */
  readonly site: string | undefined;
  /** The header Origin. */
  readonly origin: string | undefined;
}

/**
 * Whether a change comes from one of our own pages: browsers say so by Sec-Fetch-Site, older ones by Origin. A request
 * without either is refused.
 */
export function isOwnOrigin({ site, origin }: Origin, ownOrigin: string): boolean {
  return site === undefined ? origin === ownOrigin : site === 'same-origin';
}

/** Whether two secrets are the same, in a time that does not depend on where they differ. */
export function isSameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
