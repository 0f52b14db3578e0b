import autocannon from 'autocannon';

/** What a round of load gave. */
export interface Load {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly refused: number;
}

const CONNECTIONS = 64;

/** Posts bodies for a while from 64 connections, each body made for its request. */
export async function postLoad(options: {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: () => string;
  readonly seconds: number;
}): Promise<Load> {
  const result = await autocannon({
    url: options.url,
    connections: CONNECTIONS,
    duration: options.seconds,
    requests: [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...options.headers },
        setupRequest: (request) => ({ ...request, body: options.body() }),
      },
    ],
  });
  return {
    perSecond: result['2xx'] / result.duration,
    p99Ms: result.latency.p99,
    refused: result.non2xx + result.errors,
  };
}
