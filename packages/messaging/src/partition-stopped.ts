/** A partition that only people can let go on: nothing behind this place is applied, its position does not move. */
export class PartitionStoppedError extends Error {
  override readonly name = 'PartitionStoppedError';
  /** What is wrong, with the names that one needs to find it. */
  readonly reason: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason}; ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}
