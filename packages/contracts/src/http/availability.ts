import { z } from 'zod';
import { numberText } from '../json.ts';
import { availabilityStatuses } from '../payments.ts';

const seconds = (part: string) =>
  numberText.nullable().meta({ description: `from acceptance to the end: ${part} took no longer` });

/** Which payments were measured, and how those of each way fared; no counts: those of other merchants are theirs. */
export const waysAvailability = <Way extends z.ZodRawShape>(way: Way) =>
  z.strictObject({
    from: z.iso.datetime().meta({ description: 'of payments accepted since then' }),
    to: z.iso.datetime().meta({ description: 'when it was measured, UTC' }),
    availability: z.array(
      z.strictObject({
        ...way,
        status: z.enum(availabilityStatuses).meta({
          description:
            'DELAYED: what is accepted waits, as nobody answers; CLOSED: paused, new ones are refused',
        }),
        successRate: numberText.nullable().meta({
          description:
            'of those that ended, 0 to 1; rate and times are null if fewer than 20 did, or those of fewer than three merchants',
        }),
        medianSeconds: seconds('half'),
        p95Seconds: seconds('95 of 100'),
      }),
    ),
  });
