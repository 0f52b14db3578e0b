import type { OperationsExchange } from './call.ts';
import { ClientError } from './errors.ts';

const TIMEOUT_MS = 10_000;

/** Talks to an operations API over HTTP; if it does not answer, the error names its address. */
export const exchangeHttp: OperationsExchange = async ({ timeoutMs = TIMEOUT_MS, ...request }) => {
  const response = await requestHttp({ ...request, signal: AbortSignal.timeout(timeoutMs) });
  const text = await response.text().catch(() => silence(request.url));
  return { status: response.status, body: parseAnswer(text) };
};

/** Sends one request with an operator's token; gives the answer before its body has arrived. */
export async function requestHttp({
  url,
  token,
  method,
  body,
  signal,
}: Omit<Parameters<OperationsExchange>[0], 'timeoutMs'> & {
  readonly signal: AbortSignal;
}): Promise<Response> {
  return fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal,
  }).catch(() => silence(url));
}

/** Throws the error of a service that gives no answer. */
export function silence(url: string): never {
  throw new ClientError(`${new URL(url).origin} does not answer: start the service, or set its address`);
}

/** The value of a JSON text; undefined if it is none. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
