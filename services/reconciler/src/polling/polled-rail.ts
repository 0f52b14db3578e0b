import type { LookupResult, NotSent, Rail, RailCollections, RailPayouts } from '@pesewa/rails';
import type { RailAnswer } from '../domain/judging.ts';
import type { Terms } from '../domain/tracked.ts';

/** The outcome of a poll: the rail's answer, or why it can't be asked. */
export type PollAnswer = LookupResult | Extract<RailAnswer, { readonly kind: 'notFound' | 'unaskable' }>;

/** The parts of a rail that polling needs. */
export type PolledRail = Pick<Rail, 'name' | 'capabilities' | 'isAvailable'> & {
  readonly payouts?: Pick<RailPayouts, 'lookUp'> | undefined;
  readonly collections?: Pick<RailCollections, 'check'> | undefined;
  /** When the rail acknowledged a payout, in milliseconds, by the record of its owner; null if it did not. */
  readonly findTakenOnAtMs: (reference: string) => Promise<number | null>;
};

/**
 * Asks a rail about a payment; gives the reason if that is impossible. Of a payout that the rail does not find, the
 * answer has when the rail acknowledged it: nothing else depends on that, so it is read here, and not written (ADR 26).
 */
export async function ask(
  rail: PolledRail | undefined,
  reference: string,
  terms: Terms,
): Promise<PollAnswer | NotSent> {
  const unaskable = (why: string) => ({ kind: 'unaskable', why }) as const;
  if (!rail) return unaskable('the rail is not configured here');
  const { payouts, collections } = rail;
  const { currency, country } = terms;
  if (terms.kind === 'payout') {
    const answer = (await payouts?.lookUp({ reference, currency })) ?? unaskable('the rail has no payouts');
    if (answer.kind !== 'notFound') return answer;
    return { ...answer, takenOnAtMs: await rail.findTakenOnAtMs(reference) };
  }
  if (country === null) return unaskable('the country of the collection is not known here');
  return collections?.check({ reference, country, currency }) ?? unaskable('the rail has no collections');
}
