/** Infrastructure or services can't be started; one line says what is wrong and what to do. Contains no secrets. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** The one-line text of any thrown value: an error's message, or the value as text. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.split('\n', 1)[0] ?? text;
}

/** The `code` of a Node system error (`ENOENT`, `EADDRINUSE`), or undefined for anything else. */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
