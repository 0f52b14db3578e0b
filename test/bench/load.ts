import { Pool } from 'undici';

/** What a round of load gave. */
export interface Load {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly refused: number;
}

const CONNECTIONS = 64;

/** Posts bodies for a while over 64 connections, one request at a time on each, each body made for its request. */
export async function postLoad(options: {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: () => string;
  readonly seconds: number;
}): Promise<Load> {
  const { origin, pathname } = new URL(options.url);
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { 'content-type': 'application/json', ...options.headers };
  const latenciesMs: number[] = [];
  let refused = 0;
  const startedMs = performance.now();
  const endMs = startedMs + options.seconds * 1_000;

  async function work(): Promise<void> {
    for (let sentMs = performance.now(); sentMs < endMs; sentMs = performance.now()) {
      const answer = await pool.request({ path: pathname, method: 'POST', headers, body: options.body() });
      await answer.body.dump();
      if (answer.statusCode === 200) latenciesMs.push(performance.now() - sentMs);
      else refused += 1;
    }
  }

  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const seconds = (performance.now() - startedMs) / 1_000;
  await pool.close();
  const sorted = latenciesMs.toSorted((left, right) => left - right);
  return {
    perSecond: sorted.length / seconds,
    p99Ms: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    refused,
  };
}
