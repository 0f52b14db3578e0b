import { replaceInvisible } from '@pesewa/contracts';
import type { AccountName, NameQuery, Rail } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import type { Route } from './domain/routing.ts';
import type { Processors } from './processors.ts';

/** The result of a name enquiry, which is never stored or logged. */
export type NameEnquiryOutcome =
  | { readonly kind: 'found'; readonly account: AccountName }
  | { readonly kind: 'noAccount' }
  | Exclude<Route, { readonly kind: 'routed' }>;

/** Asks for the holder of an account (contract 4.6). */
export type NameEnquiry = (query: NameQuery) => Promise<NameEnquiryOutcome>;

const TEXT_LENGTH_MAX = 140;

/** Builds {@link NameEnquiry}; it asks the rail that a payout to the processor would use. */
export function createNameEnquiry(deps: {
  readonly route: Processors['route'];
  readonly rail: (name: string) => Rail | undefined;
  readonly logger: Pick<Logger, 'warn'>;
}): NameEnquiry {
  return async (query) => {
    const { country, currency, bankCode } = query;
    const routing = await deps.route({ country, currency, bankCode });
    if (routing.kind !== 'routed') return routing;
    const rail = deps.rail(routing.rail);
    if (!rail?.payouts) return { kind: 'unavailable' };
    const answer = await rail.payouts.enquireName(query);
    if (answer.kind === 'unknown') {
      deps.logger.warn({ rail: rail.name, why: answer.why }, 'a name enquiry had no clear answer');
      return { kind: 'unavailable' };
    }
    if (answer.value === null) return { kind: 'noAccount' };
    if (
      !sameText(answer.value.accountNumber, query.accountNumber) ||
      !sameText(answer.value.bankCode, bankCode)
    ) {
      deps.logger.warn({ rail: rail.name }, 'a name enquiry was answered for another account');
      return { kind: 'unavailable' };
    }
    const accountName = cleanLine(answer.value.accountName);
    if (accountName === '') return { kind: 'unavailable' };
    const { accountNumber } = query;
    const sessionId = cleanLine(answer.value.sessionId);
    return { kind: 'found', account: { accountName, accountNumber, bankCode, sessionId } };
  };
}

/** Whether both have the same letters and digits, regardless of spacing. */
function sameText(one: string, other: string): boolean {
  const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
  return bare(one) === bare(other);
}

/** A rail's text as one line of bounded length, without characters that hide or reverse text. */
function cleanLine(text: string): string {
  return replaceInvisible(text, '').trim().slice(0, TEXT_LENGTH_MAX);
}
