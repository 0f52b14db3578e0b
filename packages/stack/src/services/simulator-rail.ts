import { upstreamRail } from '@pesewa/rails';

/** The name of the only rail of a stack, the simulator. */
export const SIMULATOR_RAIL = 'upstream';

/** The entry of `RAILS` for the simulator, or for what stands in for it at this address. */
export const simulatorRail = (address: { readonly url: string; readonly publicKey: string }) =>
  upstreamRail({ name: SIMULATOR_RAIL, ...address });

/** The simulator's settings for its callbacks, which webhook-ingress takes at this address. */
export const callbackSettings = (ingressUrl: string) => ({
  CALLBACK_PAYOUTS_URL: `${ingressUrl}/rails/${SIMULATOR_RAIL}/payouts`,
  CALLBACK_COLLECTIONS_URL: `${ingressUrl}/rails/${SIMULATOR_RAIL}/collections`,
});
