import { z } from 'zod';
import { isAddressRange } from './address-list.ts';

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be exact origins, such as http://127.0.0.1:4070',
});

/** The setting of services that judge merchants' addresses; spread its shape, then `superRefine` the whole. */
export const webhookAddressSettings = z.object({
  WEBHOOK_ALLOWED_ORIGINS: z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .pipe(z.array(origin))
    .default([])
    .describe('origins that skip the address check, by commas; refused in production'),
});

/** For `superRefine` of a service's settings: allowed origins are a hole that production must not have. */
export function refuseOriginsInProduction(
  settings: { readonly NODE_ENV: string; readonly WEBHOOK_ALLOWED_ORIGINS: readonly string[] },
  context: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (settings.NODE_ENV !== 'production' || settings.WEBHOOK_ALLOWED_ORIGINS.length === 0) return;
  context.addIssue({
    code: 'custom',
    path: ['WEBHOOK_ALLOWED_ORIGINS'],
    message: 'is for development and tests: unset it in production',
  });
}

/** An address or a CIDR range inside settings; a bad one is named by the problem. */
export const addressRangeSetting = z.string().refine(isAddressRange, {
  error: ({ input }) => `must be an address or a CIDR range without bits beyond its prefix: ${String(input)}`,
});
