import { CliError } from './errors.ts';
import type { OperationsExchange } from './ports.ts';

const TIMEOUT_MS = 10_000;

/** Talks to an operations API over HTTP; whoever does not answer is named by its address. */
export const exchangeHttp: OperationsExchange = async ({ url, token, body }) => {
  const silent = () => {
    throw new CliError(`${new URL(url).origin} does not answer: start the service, or give its address`);
  };
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(silent);
  const text = await response.text().catch(silent);
  return { status: response.status, body: parse(text) };
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
