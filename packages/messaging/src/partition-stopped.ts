/** A partition stopped until people act: its position does not move, and nothing from this offset on is applied. */
export class PartitionStoppedError extends Error {
  override readonly name = 'PartitionStoppedError';
  /** What is wrong, with the names needed to find it. */
  readonly reason: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason}; ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}
