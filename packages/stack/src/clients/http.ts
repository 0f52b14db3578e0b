import { parseJson } from '@pesewa/contracts';

/** An HTTP answer: its status, its headers and its JSON body, with numbers as their own text. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
}

/** An answer 5xx, 429 or 408 without further meaning: the outcome of the request is unknown. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
}

const TIMEOUT_MS = 20_000;

/** Sends one request and reads the whole answer; rejects if there is none. */
export async function exchange(
  url: string,
  request: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  const json = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: json ? parseJson(text) : undefined,
  };
}

/** Sends JSON text. */
export function postJson(url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  return exchange(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
}
