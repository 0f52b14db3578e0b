/** A request that can't be carried out; its one line names the field or the service, and the remedy. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}

/** A request that was refused: it had no effect. */
export class RefusedError extends ClientError {
  /** The status of the HTTP answer, 400 to 499. */
  readonly status: number;
  /** The service's code for the refusal; empty if it gave none. */
  readonly code: string;
  constructor(message: string, status: number, code = '') {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The one-line text of any thrown value. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.split('\n', 1)[0] ?? text;
}
