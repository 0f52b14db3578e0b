import { execFile } from 'node:child_process';
import type { Clock } from '@pesewa/kernel';

const TIMEOUT_MS = 10_000;
const OUTPUT_BYTES_MAX = 64 * 1024;

/** The share of a token's life in which it is used again; Kafka's own clients refresh after the same. */
const REUSED_SHARE = 0.8;

/** What RFC 6750 allows in a bearer token; anything else could end the message that carries it. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** Gives tokens that have not run out. */
export interface TokenSource {
  readonly token: () => Promise<string>;
  /** Forgets the token that was given last: it was refused. */
  readonly forget: () => void;
}

/** The words of a command line that no shell reads. */
const wordsOf = (command: string): readonly string[] => command.split(/\s+/).filter((word) => word !== '');

/**
 * Takes tokens from a program's stdout. One is used again for most of its life, by the `exp` of a JWT; of a token that
 * does not say how long it lives each use asks for a new one. Callers at the same time share a run.
 *
 * An error says how the program ended, and nothing that it wrote or was called with.
 */
export function createTokenSource(options: {
  readonly command: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly timeoutMs?: number;
}): TokenSource {
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
    forget: () => {
      kept = undefined;
    },
  };
}

function runCommand(command: string, timeoutMs: number): Promise<string> {
  const [program = '', ...words] = wordsOf(command);
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: OUTPUT_BYTES_MAX } as const;
  return new Promise((resolve, reject) => {
    // Node's own error has the arguments and stderr in its text, and either may hold a secret: it goes no further.
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

/** When a JWT runs out, or nothing for a token that does not tell. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
    return typeof claims.exp === 'number' ? claims.exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
