import { currencyHtml, jsonNumber } from '@pesewa/contracts';
import type { MerchantWallet } from '@pesewa/directory';
import { formatAmount } from '@pesewa/kernel';
import type { Processor } from '@pesewa/rails';
import type { FlagUrl } from './country-flags.ts';

/**
 * A wallet in the answer of the balance operation (contract 2.5); `balance` is what can be spent now, in minor units.
 */
export function viewWallet(wallet: MerchantWallet, available: bigint, flagUrl: FlagUrl) {
  return {
    balance: jsonNumber(formatAmount(available, wallet.currency)),
    countryCode: wallet.country,
    countryAvatar: flagUrl(wallet.country),
    currencyCode: wallet.currency,
    currencyHtml: currencyHtml(wallet.currency),
  };
}

/** A processor in the list (contract 2.6), with its country's flag if the rail has no picture of it. */
export function viewProcessor(processor: Processor, country: string, flagUrl: FlagUrl) {
  return { ...processor, avatar: processor.avatar || flagUrl(country), country };
}
