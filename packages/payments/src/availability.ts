import {
  type AvailabilityStatus,
  failureClassOf,
  jsonNumber,
  type RailAvailabilityView,
  readFailureReason,
} from '@pesewa/contracts';

/** What payments are told apart by; absent parts do not count. */
export type PaymentWay = Readonly<
  Partial<Record<'rail' | 'operatorCode' | 'country' | 'currency' | 'channel', string>>
>;

/** A payment that has ended at its rail; `tookMs` is from acceptance to the end, null if that is not known. */
export interface EndedPayment extends PaymentWay {
  readonly merchantId: string;
  readonly status: 'COMPLETED' | 'FAILED' | 'REVERSED';
  readonly reason: string | null;
  readonly tookMs: number | null;
}

/** The payments that availability is measured by; with `isCut` more are open than are here. */
export interface PaymentSample {
  readonly ended: readonly EndedPayment[];
  readonly open: readonly (PaymentWay & { readonly openForMs: number })[];
  readonly isCut: boolean;
}

/** How payments of a way ended. */
export type Measured = Omit<RailAvailabilityView, 'rail' | 'operatorCode'>;

/** How many payments must have ended for a rate or a time to mean anything. */
export const ENDED_MIN = 20;
/** No payment is open too long before this. */
export const OPEN_TOO_LONG_MIN_MS = 60_000;
/** Where too few have ended to say how long one takes. */
const OPEN_TOO_LONG_UNKNOWN_MS = 3_600_000;

function takes(way: PaymentWay): (payment: PaymentWay) => boolean {
  const parts = Object.entries(way);
  return (payment) => parts.every(([part, value]) => payment[part as keyof PaymentWay] === value);
}

/** Measures the payments of a way. */
export function measure(way: PaymentWay, sample: PaymentSample): Measured {
  const isOfIt = takes(way);
  const ended = sample.ended.filter(isOfIt);
  const {
    COMPLETED: { length: completed } = [],
    FAILED: failures = [],
    REVERSED: { length: reversed } = [],
  } = Object.groupBy(ended, ({ status }) => status);
  const failed = { customer: 0, rail: 0, other: 0 };
  for (const { reason } of failures) failed[failureClassOf(reason)] += 1;
  const isEnough = ended.length >= ENDED_MIN;
  const times = ended.flatMap(({ tookMs }) => tookMs ?? []).toSorted((one, other) => one - other);
  const percentile = (percent: number) =>
    isEnough ? (times[Math.ceil((times.length * percent) / 100) - 1] ?? null) : null;
  const p95Ms = percentile(95);
  const afterMs = p95Ms === null ? OPEN_TOO_LONG_UNKNOWN_MS : Math.max(p95Ms, OPEN_TOO_LONG_MIN_MS);
  const late = sample.open.filter((payment) => isOfIt(payment) && payment.openForMs > afterMs);
  return {
    completed,
    failed,
    reversed,
    // Rounded down, so that 1 means that none failed.
    successRate: isEnough ? Math.floor((completed * 1_000) / ended.length) / 1_000 : null,
    medianMs: percentile(50),
    p95Ms,
    topFailure: mostFrequent(failures),
    openTooLong: { count: late.length, isCut: sample.isCut, afterMs },
  };
}

/** The reason that most have; a rail's own words are not shown, because they may name people. */
function mostFrequent(failures: readonly EndedPayment[]): Measured['topFailure'] {
  const byReason = Map.groupBy(failures, ({ reason }) =>
    reason === null ? 'no reason given' : (readFailureReason(reason) ?? 'a reason in other words'),
  );
  const [most] = [...byReason].toSorted(([, one], [, other]) => other.length - one.length);
  return most ? { reason: most[0], count: most[1].length } : null;
}

/** Nobody learns from a way's figures how another merchant does: so many must have paid by it. */
const MERCHANTS_MIN = 3;

/** The figures of a way that merchants may be told: none if they are those of a few. */
export function measureForMerchants(way: PaymentWay, sample: PaymentSample): Told {
  const { successRate, medianMs, p95Ms } = measure(way, sample);
  const merchants = new Set(sample.ended.filter(takes(way)).map(({ merchantId }) => merchantId));
  return merchants.size < MERCHANTS_MIN
    ? { successRate: null, medianMs: null, p95Ms: null }
    : { successRate, medianMs, p95Ms };
}

/** What merchants may be told of a way's figures. */
export type Told = Pick<Measured, 'successRate' | 'medianMs' | 'p95Ms'>;

/** The status of a way that these rails serve. */
export function statusOf(
  rails: readonly ServingRail[],
  isPaused: (rail: string) => boolean,
): AvailabilityStatus {
  const open = rails.filter(({ name }) => !isPaused(name));
  if (open.length === 0) return 'CLOSED';
  return open.some(({ isAvailable }) => isAvailable()) ? 'OPERATIONAL' : 'DELAYED';
}

/** What is measured of a way, as merchants see it; the rails are those that serve it. */
export function viewForMerchants(
  { successRate, medianMs, p95Ms }: Told,
  rails: readonly ServingRail[],
  isPaused: (rail: string) => boolean,
) {
  const seconds = (ms: number | null) => (ms === null ? null : jsonNumber(String(Math.round(ms / 100) / 10)));
  return {
    status: statusOf(rails, isPaused),
    successRate: successRate === null ? null : jsonNumber(String(successRate)),
    medianSeconds: seconds(medianMs),
    p95Seconds: seconds(p95Ms),
  };
}

/** A rail that serves a way, and whether it would be called now. */
export interface ServingRail {
  readonly name: string;
  readonly isAvailable: () => boolean;
}
