import { jsonSetting } from '@pesewa/runtime';
import { z } from 'zod';
import type { ConnectorDefinition, RailSettings } from './define-connector.ts';
import { upstream } from './upstream/upstream.ts';

/** The connectors by the name that a rail's setting `connector` has. */
export const connectors: Readonly<Record<string, ConnectorDefinition>> = { upstream };

/** Reads the variable `RAILS`, see {@link railSettingsOf}, with the connectors that there are. */
export const railSettings = railSettingsOf(connectors);

/**
 * Builds the schema of the variable `RAILS`: JSON text of an array of rails, at least one, with unique names.
 *
 * `name` and `connector` are required, and what the connector requires. If two rails serve the same route, the first
 * one takes it.
 */
export function railSettingsOf(known: Readonly<Record<string, ConnectorDefinition>>) {
  const [first, ...others] = Object.values(known);
  if (first === undefined) throw new TypeError('there is no connector');
  const rail = z.discriminatedUnion('connector', [first, ...others], {
    error: ({ code }) =>
      code === 'invalid_union' ? `must be one of: ${Object.keys(known).join(', ')}` : undefined,
  });
  return jsonSetting.pipe(
    z
      .array(rail)
      .min(1, { error: 'needs at least one rail' })
      .refine((rails) => new Set(rails.map(({ name }) => name)).size === rails.length, {
        error: 'names a rail twice',
      })
      .superRefine((rails, context) => {
        for (const path of repeatedSecrets(rails))
          context.addIssue({
            code: 'custom',
            path: [...path],
            message: 'is the secret of another place: a rail that has it could speak for both',
          });
      }),
  );
}

/**
 * The places of callback secrets that occur earlier too; their bytes are compared, because one key has several
 * spellings.
 */
function repeatedSecrets(rails: readonly RailSettings[]): readonly (readonly (string | number)[])[] {
  const seen = new Set<string>();
  return rails.flatMap(({ callbackSecrets }, rail) =>
    callbackSecrets.flatMap((secret, index) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').toString('hex');
      if (!seen.has(key)) {
        seen.add(key);
        return [];
      }
      return [[rail, 'callbackSecrets', index]];
    }),
  );
}
