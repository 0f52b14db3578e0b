import { Pool } from 'undici';

/** The result of a round of load. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly accepted: number;
  readonly refused: number;
}

const CONNECTIONS = 64;

/** A body and the headers that are made from it. */
export interface SignedBody {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One kind of request to one address, each body made for its request. */
export interface LoadOptions {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  /** Each body, with its headers if they depend on it. */
  readonly body: () => string | SignedBody;
  readonly connections?: number;
  /** Whether to continue, asked before each request with how many were sent and for how long. */
  readonly goOn: (sent: number, elapsedMs: number) => boolean;
}

/** Goes on for a while. */
export const forSeconds =
  (seconds: number): LoadOptions['goOn'] =>
  (_sent, elapsedMs) =>
    elapsedMs < seconds * 1_000;

/** Goes on until that many were sent. */
export const times =
  (count: number): LoadOptions['goOn'] =>
  (sent) =>
    sent < count;

function partsOf(made: string | SignedBody | null, headers: Readonly<Record<string, string>>) {
  if (made === null || typeof made === 'string') return { body: made, headers };
  return { body: made.text, headers: { ...headers, ...made.headers } };
}

/** Sends requests over 64 connections by default, one at a time on each. */
export async function sendLoad(options: LoadOptions): Promise<Load> {
  const { origin, pathname } = new URL(options.url);
  const { method = 'POST', connections = CONNECTIONS } = options;
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const headers = { 'content-type': 'application/json', ...options.headers };
  const latenciesMs: number[] = [];
  let sent = 0;
  let refused = 0;
  const startedMs = performance.now();

  async function work(): Promise<void> {
    for (;;) {
      const sentMs = performance.now();
      if (!options.goOn(sent, sentMs - startedMs)) return;
      sent += 1;
      const made = method === 'POST' ? options.body() : null;
      const answer = await pool.request({ path: pathname, method, ...partsOf(made, headers) });
      await answer.body.dump();
      if (answer.statusCode === 200) latenciesMs.push(performance.now() - sentMs);
      else refused += 1;
    }
  }

  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - startedMs) / 1_000;
  await pool.close();
  const sorted = latenciesMs.toSorted((left, right) => left - right);
  const quantile = (share: number): number =>
    Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  return {
    perSecond: sorted.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    accepted: sorted.length,
    refused,
  };
}
