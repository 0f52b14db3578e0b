import { type CollectionRefusal, collectionRefusals } from '@pesewa/contracts';
import { z } from 'zod';
import { pendingAnswer, refusedAnswer, viewRefused } from './answers.ts';
import type { DocumentedAnswer } from './api-operation.ts';
import { DECLINED } from './domain/reasons.ts';

const railReason = z.string().meta({
  description: `the mobile operator's own reason, in capitals; \`${DECLINED}\` where it doesn't take our own request`,
});

/**
 * The documented answers of an operation: the collection goes on, as in the examples, or is refused (contract 2.9, 7).
 */
export function documentAnswers(
  pending: { readonly description: string; readonly examples: Readonly<Record<string, unknown>> },
  refusals: readonly CollectionRefusal[],
): Readonly<Record<number, DocumentedAnswer>> {
  const byStatus = Map.groupBy(refusals, (reason) => collectionRefusals[reason].status);
  const answers = [...byStatus].map(([status, reasons]): [number, DocumentedAnswer] => {
    const described = reasons
      .map((reason) => `\`${reason}\` ${collectionRefusals[reason].meaning}`)
      .join('; ');
    const examples = Object.fromEntries(
      reasons.map((reason) => [reason, viewRefused(reason, exampleDetails[reason])]),
    );
    if (status !== 200) {
      const retryAfter = reasons.includes('TOO MANY REQUESTS');
      return [
        status,
        { description: described, schema: refusedAnswer(z.enum(reasons)), examples, retryAfter },
      ];
    }
    return [
      200,
      {
        description: `\`09\` ${pending.description}; \`06\` with a failedReason: ${described}; or the mobile operator's own reason`,
        schema: z.union([pendingAnswer, refusedAnswer(z.union([z.enum(reasons), railReason]))]),
        examples: { ...pending.examples, ...examples },
      },
    ];
  });
  return Object.fromEntries(answers);
}

/** The further fields of refusals in the examples. */
const exampleDetails: Readonly<
  Partial<Record<CollectionRefusal, { readonly reference?: string; readonly description?: string }>>
> = {
  'DUPLICATE REFERENCE': { reference: 'co-019a6b2c4d5e7f8091a2b3c4d5e6f708' },
  'INVALID REQUEST': { description: 'customerNumber is required' },
  UNAUTHORIZED: { description: 'X-business must be the Base64 of your public key, and X-app must be api' },
  'TOO MANY REQUESTS': { description: 'too many requests: nothing was recorded, send it again after 1 s' },
  'SERVICE UNAVAILABLE': {
    description: 'your key can not be looked up at present: nothing was recorded, send it again',
  },
};
