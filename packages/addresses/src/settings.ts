import { z } from 'zod';
import { createAddressList, hasAddressForm, isAddressRange } from './address-list.ts';
import type { TrustedProxies } from './client-address.ts';

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be exact origins, such as http://127.0.0.1:4070',
});

/**
 * The setting of services that judge merchants' addresses: spread its shape into the schema, then apply `superRefine`
 * to all settings.
 */
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
    .describe('origins that skip the address check, separated by commas; refused in production'),
});

/**
 * For `superRefine` of a service's settings: refuses allowed origins in production, because they bypass the address
 * checks.
 */
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

/** An address or a CIDR range inside settings. The problem quotes a bad value only if it looks like an address. */
export const addressRangeSetting = z.string().refine(isAddressRange, {
  error: ({ input }) => {
    const problem = 'must be an address or a CIDR range without bits beyond its prefix';
    return hasAddressForm(input) ? `${problem}: ${input}` : problem;
  },
});

/** Addresses and CIDR ranges separated by commas, from an environment variable. */
export const addressRangesSetting = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : text.split(',').map((item) => item.trim())))
  .pipe(z.array(addressRangeSetting));

/** The settings of services that judge where requests come from: spread its shape into the schema. */
export const proxySettings = z.object({
  TRUSTED_PROXIES: z.coerce
    .number()
    .int()
    .min(0)
    .max(10)
    .default(0)
    .describe(
      'number of our own proxies before this service; that many entries of X-Forwarded-For are trusted, from the right',
    ),
  TRUSTED_PROXY_ADDRESSES: addressRangesSetting.describe(
    'addresses and CIDR ranges of those proxies, separated by commas; if set, X-Forwarded-For is trusted only from them',
  ),
});

/** The proxies that a service's settings name. */
export function readTrustedProxies(config: z.output<typeof proxySettings>): TrustedProxies {
  const { TRUSTED_PROXIES: trustedProxies, TRUSTED_PROXY_ADDRESSES: addresses } = config;
  return { trustedProxies, proxies: addresses.length === 0 ? undefined : createAddressList(addresses) };
}
