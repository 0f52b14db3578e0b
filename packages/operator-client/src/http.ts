import type { OperationsExchange } from './call.ts';
import { ClientError } from './errors.ts';

const TIMEOUT_MS = 10_000;

/** Talks to an operations API over HTTP; if it does not answer, the error names its address. */
export const exchangeHttp: OperationsExchange = async ({
  url,
  token,
  method,
  body,
  timeoutMs = TIMEOUT_MS,
}) => {
  const silent = () => silence(url);
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(silent);
  const text = await response.text().catch(silent);
  return { status: response.status, body: parseAnswer(text) };
};

/** Throws the error of a service that gives no answer. */
export function silence(url: string): never {
  throw new ClientError(`${new URL(url).origin} does not answer: start the service, or give its address`);
}

/** The value of a JSON text; undefined if it is none. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
