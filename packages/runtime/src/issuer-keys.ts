import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import type { Logger } from './logger.ts';

/** The keys of the issuer are not known now: nobody's token can be judged. */
export class IssuerSilentError extends Error {
  override readonly name = 'IssuerSilentError';
}

/** Shorter than callers of the operator APIs wait. */
const FETCH_TIMEOUT_MS = 4_000;
/** However many tokens name keys that the issuer doesn't have, it is asked no more often. */
const ASK_AGAIN_AFTER_MS = 30_000;
/** Older keys are fetched anew beside the requests, so that a withdrawn key is soon forgotten. */
const FRESH_MS = 300_000;
/** As long as this the issuer may be down before tokens are of no use. */
const USABLE_MS = 3_600_000;

const discoveryDocument = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** Whether nobody can change on the way what this address answers: it has TLS, or is on this machine. */
export function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  const isOwnMachine = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isOwnMachine);
}

/**
 * Finds the key of a token among those of an issuer (OpenID Connect Discovery 1.0), which it fetches when they are first
 * needed; rejects with {@link IssuerSilentError} if they can't be had.
 *
 * @param monotonicMs a clock that is never set back
 */
export function createIssuerKeys(
  issuer: string,
  monotonicMs: () => number,
  logger: Pick<Logger, 'warn'>,
): JWTVerifyGetKey {
  let known: { readonly find: JWTVerifyGetKey; readonly fetchedAtMs: number } | undefined;
  let asked = { atMs: Number.NEGATIVE_INFINITY, isAnswered: false };
  let asking: Promise<void> | undefined;
  const ask = async (): Promise<void> => {
    asked = { atMs: monotonicMs(), isAnswered: false };
    try {
      known = { find: await fetchKeys(issuer), fetchedAtMs: asked.atMs };
      asked.isAnswered = true;
    } catch (error) {
      logger.warn({ err: error, issuer }, "the issuer of operators' tokens gives no keys");
    } finally {
      asking = undefined;
    }
  };
  const askIfDue = (): Promise<void> => {
    if (monotonicMs() - asked.atMs >= ASK_AGAIN_AFTER_MS) asking = ask();
    return asking ?? Promise.resolve();
  };
  const usable = (maxAgeMs: number) =>
    known && monotonicMs() - known.fetchedAtMs < maxAgeMs ? known : undefined;
  return async (header, token) => {
    const asks = usable(FRESH_MS) ? undefined : askIfDue();
    if (!usable(USABLE_MS)) await asks;
    try {
      return await (usable(USABLE_MS) ?? silent()).find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    await askIfDue();
    return ((asked.isAnswered && usable(USABLE_MS)) || silent()).find(header, token);
  };
}

function silent(): never {
  throw new IssuerSilentError('the issuer gives no keys');
}

async function fetchKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const fetchJson = async (url: string): Promise<unknown> => {
    if (!isSafeAddress(url)) throw new RangeError(`${url} must be an https address`);
    const answer = await fetch(url, { redirect: 'error', signal });
    if (!answer.ok) throw new RangeError(`${url} answered ${answer.status}`);
    return answer.json();
  };
  const described = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const { issuer: itself, jwks_uri: address } = discoveryDocument.parse(described);
  if (itself !== issuer)
    throw new RangeError(`the issuer calls itself ${itself}: OPERATORS_ISSUER must be the same`);
  return createLocalJWKSet(keySet.parse(await fetchJson(address)));
}
