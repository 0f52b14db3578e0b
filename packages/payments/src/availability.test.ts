import { failureClassOf } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import {
  ENDED_MIN,
  type EndedPayment,
  measure,
  measureForMerchants,
  type PaymentSample,
  viewForMerchants,
} from './availability.ts';

const way = { rail: 'upstream' };
const times = (count: number, one: Partial<EndedPayment> = {}): readonly EndedPayment[] =>
  Array.from({ length: count }, (_, index) => ({
    ...way,
    merchantId: `m-${index % 3}`,
    status: 'COMPLETED',
    reason: 'Successful',
    tookMs: (index + 1) * 1_000,
    ...one,
  }));
const failed = (count: number, reason: string | null) => times(count, { status: 'FAILED', reason });
const sampleOf = (ended: readonly EndedPayment[], open: PaymentSample['open'] = []) => ({
  ended,
  open,
  isCut: false,
});

describe('availability', () => {
  it('has a rate, half and 95 of 100 of the times, and what fails most, by whose reason', () => {
    const ended = [
      ...times(94),
      ...failed(3, 'Customer declined'),
      ...failed(2, 'TIMEOUT'),
      ...failed(1, 'do not honour'),
    ];
    expect(measure(way, sampleOf(ended))).toEqual({
      completed: 94,
      failed: { customer: 3, rail: 2, other: 1 },
      reversed: 0,
      successRate: 0.94,
      medianMs: 44_000,
      p95Ms: 89_000,
      topFailure: { reason: 'CUSTOMER DECLINED', count: 3 },
      openTooLong: { count: 0, isCut: false, afterMs: 89_000 },
    });
  });

  it('counts what a rail took back beside what failed, and neither as completed', () => {
    const reversed = times(4, { status: 'REVERSED', reason: 'Reversed by the institution' });
    expect(measure(way, sampleOf([...times(14), ...failed(2, 'TIMEOUT'), ...reversed]))).toMatchObject({
      completed: 14,
      failed: { customer: 0, rail: 2, other: 0 },
      reversed: 4,
      successRate: 0.7,
      topFailure: { reason: 'TIMEOUT', count: 2 },
    });
  });

  it('gives no rate and no times of too few, and counts them all the same', () => {
    const few = sampleOf([...times(ENDED_MIN - 2), ...failed(1, null)]);
    expect(measure(way, few)).toMatchObject({
      completed: 18,
      failed: { customer: 0, rail: 0, other: 1 },
      successRate: null,
      medianMs: null,
      p95Ms: null,
      topFailure: { reason: 'no reason given', count: 1 },
    });
    const enough = sampleOf([...few.ended, ...times(1)]);
    expect(measure(way, enough)).toMatchObject({ successRate: 0.95, medianMs: 8_000, p95Ms: 17_000 });
  });

  it('says 1 only if none failed', () => {
    expect(measure(way, sampleOf([...times(9_999), ...failed(1, 'x')])).successRate).toBe(0.999);
    expect(measure(way, sampleOf(times(9_999))).successRate).toBe(1);
  });

  it('is of what it names alone', () => {
    const mtn = { rail: 'upstream', operatorCode: 'GHMTN' };
    const ended = [...times(20, mtn), ...times(20, { operatorCode: 'KESAF', status: 'FAILED' })];
    expect(measure(mtn, sampleOf(ended))).toMatchObject({ completed: 20, successRate: 1 });
    expect(measure(way, sampleOf(ended)).successRate).toBe(0.5);
    expect(measure({ rail: 'another' }, sampleOf(ended))).toMatchObject({ completed: 0, successRate: null });
  });

  it.each([
    ['an hour where nobody knows how long one takes', 0, 1_000, 3_600_000],
    ['a minute at least', 20, 1_000, 60_000],
    ['what 95 of 100 took', 20, 300_000, 300_000],
  ])('counts as open too long after %s', (_, count, tookMs, afterMs) => {
    const open = [afterMs, afterMs + 1].map((openForMs) => ({ ...way, openForMs }));
    const { openTooLong } = measure(way, { ...sampleOf(times(count, { tookMs }), open), isCut: true });
    expect(openTooLong).toEqual({ count: 1, isCut: true, afterMs });
  });

  it("shows no words of a rail's own, which may name a person", () => {
    const { topFailure } = measure(way, sampleOf(failed(1, 'Account of KWAME BOATENG 0240000000 closed')));
    expect(topFailure?.reason).toBe('a reason in other words');
  });
});

it.each([
  ['insufficient  funds', 'customer'],
  ['Operator not available', 'rail'],
  ['EXPIRED', 'other'],
  ['Reversed by the beneficiary institution', 'other'],
  [null, 'other'],
])('the reason %j is that of: %s', (reason, whose) => expect(failureClassOf(reason)).toBe(whose));

describe('what merchants are told', () => {
  const rails = (...available: readonly boolean[]) =>
    available.map((isAvailable, index) => ({ name: `rail-${index}`, isAvailable: () => isAvailable }));

  it.each([
    ['OPERATIONAL', 'one rail answers', rails(false, true), []],
    ['DELAYED', 'none answers', rails(false, false), []],
    ['DELAYED', 'the one that answers is paused', rails(false, true), ['rail-1']],
    ['CLOSED', 'all are paused', rails(true, true), ['rail-0', 'rail-1']],
    ['CLOSED', 'none serves it', [], []],
  ])('is %s where %s', (status, _, serving, paused: readonly string[]) => {
    const measured = measure({}, sampleOf([]));
    const view = viewForMerchants(measured, serving, (rail) => paused.includes(rail));
    expect(view).toEqual({ status, successRate: null, medianSeconds: null, p95Seconds: null });
  });

  it('has no figures by which a few merchants could tell those of another', () => {
    const none = { successRate: null, medianMs: null, p95Ms: null };
    const ofTwo = times(99).filter(({ merchantId }) => merchantId !== 'm-2');
    expect(measureForMerchants(way, sampleOf(ofTwo))).toEqual(none);
    expect(measureForMerchants(way, sampleOf(times(99)))).toMatchObject({ successRate: 1 });
  });

  it('has a rate and times, and no count or reason of others', () => {
    const measured = measureForMerchants(way, sampleOf([...times(99), ...failed(1, 'TIMEOUT')]));
    expect(JSON.stringify(viewForMerchants(measured, rails(true), () => false))).toBe(
      '{"status":"OPERATIONAL","successRate":0.99,"medianSeconds":49,"p95Seconds":94}',
    );
  });
});
