import { execFile } from 'node:child_process';
import type { Clock } from '@pesewa/kernel';

const TIMEOUT_MS = 10_000;
const OUTPUT_BYTES_MAX = 64 * 1024;

/** The share of a token's lifetime during which it is reused; Kafka's own clients refresh after the same share. */
const REUSED_SHARE = 0.8;

/** The characters that RFC 6750 allows in a bearer token; others could end the message that carries it. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Gives tokens that have not expired. */
export type TokenSource = ReturnType<typeof createTokenSource>;

/** The words of a command line, split without a shell. */
const wordsOf = (command: string): readonly string[] => command.split(/\s+/).filter((word) => word !== '');

/**
 * Takes tokens from a program's stdout. A token is reused for most of its life, by the `exp` of a JWT; one without a
 * known lifetime is used once. Concurrent callers share a run.
 *
 * Errors say how the program ended, and never quote its output or its arguments.
 */
export function createTokenSource(options: {
  readonly command: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly timeoutMs?: number;
}) {
  const { command, clock, timeoutMs = TIMEOUT_MS } = options;
  let kept: { readonly token: string; readonly untilMs: number } | undefined;
  let running: Promise<string> | undefined;
  const renew = async (): Promise<string> => {
    const token = await runCommand(command, timeoutMs);
    const nowMs = clock.nowMs();
    const expiresAtMs = expiryOf(token);
    kept =
      expiresAtMs === undefined
        ? undefined
        : { token, untilMs: nowMs + (expiresAtMs - nowMs) * REUSED_SHARE };
    return token;
  };
  return {
    token: () => {
      if (kept && clock.nowMs() < kept.untilMs) return Promise.resolve(kept.token);
      running ??= renew().finally(() => {
        running = undefined;
      });
      return running;
    },
    /** Forgets the last token, because it was refused. */
    forget: () => {
      kept = undefined;
    },
  };
}

function runCommand(command: string, timeoutMs: number): Promise<string> {
  const [program = '', ...words] = wordsOf(command);
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const;
  return new Promise((resolve, reject) => {
    // Node's own error contains the arguments and stderr, either of which may hold a secret, so it is not passed on.
    execFile(program, words, { ...limits, windowsHide: true }, (error, stdout) => {
      const fail = (how: string): void => reject(new Error(`KAFKA_SASL_TOKEN_COMMAND ${how}`));
      if (error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
        return fail(`wrote more than ${OUTPUT_BYTES_MAX / 1024} KiB`);
      if (error?.killed) return fail(`did not end within ${timeoutMs / 1_000} s`);
      if (error) return fail(howItEnded(error));
      const token = stdout.trim();
      if (!TOKEN.test(token)) return fail('wrote no token to stdout');
      resolve(token);
    });
  });
}

function howItEnded({
  code,
  signal,
}: {
  readonly code?: string | number | null;
  readonly signal?: string | null;
}): string {
  if (typeof code === 'string') return `can't be run (${code}): check the program's path`;
  return `ended with ${signal ?? `exit code ${code}`}`;
}

/** When a JWT expires; undefined for a token that does not say. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
    return typeof claims.exp === 'number' ? claims.exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
