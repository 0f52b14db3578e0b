/** A price for moving money: fixed plus a share, kept between two bounds; all in minor units. */
export interface FeeSchedule {
  readonly fixedMinor: bigint;
  /** Hundredths of a percent: 50 is 0.5 %. */
  readonly basisPoints: bigint;
  readonly minimumMinor: bigint;
  /** Absent means unbounded. */
  readonly maximumMinor?: bigint | undefined;
}

const BASIS = 10_000n;

/** The fee for an amount, rounded half up in minor units (contract 10.7). */
export function feeFor(schedule: FeeSchedule, amountMinor: bigint): bigint {
  const share = (amountMinor * schedule.basisPoints * 2n + BASIS) / (BASIS * 2n);
  const fee = schedule.fixedMinor + share;
  if (fee < schedule.minimumMinor) return schedule.minimumMinor;
  if (schedule.maximumMinor !== undefined && fee > schedule.maximumMinor) return schedule.maximumMinor;
  return fee;
}
