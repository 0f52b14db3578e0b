import { wholeNumberSetting } from '@pesewa/runtime';
import { z } from 'zod';

/** How long a gateway keeps its payments; spread the shape, then `superRefine` the whole by {@link refuseEarlyArchive}. */
export const paymentKeepSettings = z.object({
  PERSONAL_DATA_KEEP_DAYS: wholeNumberSetting({ min: 30, max: 3_650 })
    .default(400)
    .describe("how long after its acceptance an ended payment keeps people's names, numbers and accounts"),
  // At least longer than the reconciler watches for a payment by default, and than all that looks back (ADR 53).
  PAYMENT_KEEP_DAYS: wholeNumberSetting({ min: 1_000, max: 36_500 })
    .default(4_000)
    .describe(
      'how long after its acceptance an ended payment is kept; the references of older ones stay taken',
    ),
});

/** For `superRefine` of a gateway's settings: a payment is archived after it was erased. */
export function refuseEarlyArchive(
  settings: z.output<typeof paymentKeepSettings>,
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (settings.PAYMENT_KEEP_DAYS > settings.PERSONAL_DATA_KEEP_DAYS) return;
  context.addIssue({
    code: 'custom',
    path: ['PAYMENT_KEEP_DAYS'],
    message: 'must be more than PERSONAL_DATA_KEEP_DAYS',
  });
}
