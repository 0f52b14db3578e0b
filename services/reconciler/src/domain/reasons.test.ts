import { describe, expect, it } from 'vitest';
import { called, collection, fold, opened, poll } from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import type { RailAnswer } from './judging.ts';
import type { PaymentObservation } from './observations.ts';
import { awaited } from './tracked.ts';

describe('why a collection failed, if the rail itself reports only that it did', () => {
  const failed: RailAnswer = { kind: 'failed', reason: 'FAILED' };
  const because = (reason: string | null, given: Partial<Claim> = {}) =>
    called({ status: 'FAILED', reason, ...given });

  it.each<[string, readonly PaymentObservation[], string]>([
    ['no callback says', [], 'FAILED'],
    ['a callback says', [because('Customer declined')], 'CUSTOMER DECLINED'],
    ['callbacks agree', [because('EXPIRED'), because(' expired '), because(null)], 'EXPIRED'],
    ['callbacks disagree', [because('EXPIRED'), because('INSUFFICIENT FUNDS')], 'FAILED'],
    ['a callback says anything', [because('call 0712345678 now')], 'FAILED'],
    ['one says anything besides', [because('EXPIRED'), because('ask Kofi')], 'FAILED'],
    ['another rail says', [because('EXPIRED', { rail: 'other' })], 'FAILED'],
    ['it is said of another end', [called({ reason: 'EXPIRED' })], 'FAILED'],
    ['proof stands against hints', [because('TIMEOUT'), because('EXPIRED', { proven: true })], 'EXPIRED'],
  ])('%s', (_name, claims, reason) => {
    expect(poll(collection(...claims), failed)).toMatchObject({ reason });
    const early = fold(awaited('co-1', 0), [...claims, opened('collection')]);
    expect(poll(early, failed)).toMatchObject({ reason });
  });

  it('the rail’s own reason stands', () => {
    const answer: RailAnswer = { kind: 'failed', reason: 'DECLINED BY ISSUER' };
    expect(poll(collection(because('EXPIRED')), answer).reason).toBe('DECLINED BY ISSUER');
  });
});
