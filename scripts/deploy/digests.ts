import type { DeployedService } from './model.ts';

/** A placeholder for the digest that a release inserts; an image with it can't be pulled. */
export const PLACEHOLDER_DIGEST = `sha256:${'0'.repeat(64)}`;

/** The images of a released installation: one for each service, the command line, and the tools of MongoDB. */
type ReleasedImage = DeployedService | 'pesewa' | 'mongodb-tools';

/** Digests by image. */
export type Digests = Readonly<Record<ReleasedImage, string>>;

/** The images of staging: all of one release, or all still to be replaced. */
export const staging: Digests = {
  ledger: PLACEHOLDER_DIGEST,
  'payout-gateway': PLACEHOLDER_DIGEST,
  'collection-gateway': PLACEHOLDER_DIGEST,
  'webhook-ingress': PLACEHOLDER_DIGEST,
  'webhook-dispatcher': PLACEHOLDER_DIGEST,
  reconciler: PLACEHOLDER_DIGEST,
  console: PLACEHOLDER_DIGEST,
  pesewa: PLACEHOLDER_DIGEST,
  'mongodb-tools': PLACEHOLDER_DIGEST,
};

/** The images of production, which staging has run before. */
export const production: Digests = {
  ledger: PLACEHOLDER_DIGEST,
  'payout-gateway': PLACEHOLDER_DIGEST,
  'collection-gateway': PLACEHOLDER_DIGEST,
  'webhook-ingress': PLACEHOLDER_DIGEST,
  'webhook-dispatcher': PLACEHOLDER_DIGEST,
  reconciler: PLACEHOLDER_DIGEST,
  console: PLACEHOLDER_DIGEST,
  pesewa: PLACEHOLDER_DIGEST,
  'mongodb-tools': PLACEHOLDER_DIGEST,
};
