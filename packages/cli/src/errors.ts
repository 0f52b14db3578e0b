/** A command that can't be carried out: one line that names the field or address and the remedy. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** A request that was answered with a refusal: nothing of it was done. */
export class RefusedError extends CliError {
  /** Of the HTTP answer, 400 to 499. */
  readonly status: number;
  /** The word by which the service names the refusal; empty where it gave none. */
  readonly code: string;
  constructor(message: string, status: number, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The one-line text of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.split('\n', 1)[0] ?? text;
}
