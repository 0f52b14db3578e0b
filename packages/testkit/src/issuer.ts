import { createHash, type webcrypto } from 'node:crypto';
import { readBytes, serveHttp } from '@pesewa/runtime';
import { Hono } from 'hono';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';

/** What a token says, and how; `claims` go over what is usual. */
export interface TokenTerms {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** By default the newest of the issuer's keys. */
  readonly key?: IssuerKey;
  readonly header?: Partial<JWTHeaderParameters>;
}

/** A key by which an issuer signs. */
export interface IssuerKey {
  readonly id: string;
  readonly algorithm: string;
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicKey: JWK;
}

/** Makes a key; no issuer publishes it yet. */
export async function createIssuerKey(id: string, algorithm = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  return {
    id,
    algorithm,
    privateKey,
    publicKey: { ...(await exportJWK(publicKey)), kid: id, alg: algorithm },
  };
}

/** Somebody's answer at the issuer's sign-in page: what the console's code then gets for it. */
export interface Consent {
  readonly accessToken: string;
  /** By default that of the request. */
  readonly nonce?: string;
}

const BODY_BYTES_MAX = 65_536;

type Answer = readonly [status: number, body: object];

/** A server that answers paths and forms with JSON. */
function listen(answer: (path: string, form: URLSearchParams) => Promise<Answer>) {
  const app = new Hono();
  app.all('*', async (context) => {
    const sent = await readBytes(context, BODY_BYTES_MAX);
    const [status, body] = await answer(
      context.req.path,
      new URLSearchParams(Buffer.from(sent ?? []).toString()),
    );
    return Response.json(body, { status });
  });
  return serveHttp({ app, host: '127.0.0.1', port: 0, lingerMs: 0 });
}

/** An OpenID Connect issuer on this machine, for tests: discovery, keys, and codes that are good once and by PKCE alone. */
export async function openIssuer(nowMs: () => number = Date.now) {
  const keys = [await createIssuerKey('key-1')];
  const codes = new Map<string, { readonly asked: URLSearchParams; readonly consent: Consent }>();
  /** The paths that were asked for, in order. */
  const asked: string[] = [];
  /** What is broken: each path here answers 500. */
  const broken = new Set<string>();
  let issuer = '';
  const sign = ({ claims, key = keys.at(-1), header }: TokenTerms) => {
    if (!key) throw new RangeError('the issuer has no key');
    const nowSeconds = Math.floor(nowMs() / 1_000);
    const usual = { iss: issuer, sub: 'sub-1', iat: nowSeconds, exp: nowSeconds + 600 };
    return new SignJWT({ ...usual, ...claims })
      .setProtectedHeader({ alg: key.algorithm, kid: key.id, ...header })
      .sign(key.privateKey);
  };
  const redeem = async (form: URLSearchParams): Promise<Answer> => {
    const code = form.get('code') ?? '';
    const given = codes.get(code);
    codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      given?.asked.get('code_challenge') === challenge &&
      given.asked.get('redirect_uri') === form.get('redirect_uri');
    if (!given || !isRight) return [400, { error: 'invalid_grant', error_description: 'a wrong code' }];
    const aud = given.asked.get('client_id');
    const nonce = given.consent.nonce ?? given.asked.get('nonce');
    const idToken = await sign({ claims: { aud, nonce } });
    return [200, { access_token: given.consent.accessToken, token_type: 'Bearer', id_token: idToken }];
  };
  const answers: Readonly<Record<string, (form: URLSearchParams) => Promise<Answer>>> = {
    '/.well-known/openid-configuration': async () => [
      200,
      {
        issuer,
        jwks_uri: `${issuer}/keys`,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['ES256'],
      },
    ],
    '/keys': async () => [200, { keys: keys.map(({ publicKey }) => publicKey) }],
    '/token': redeem,
  };
  const server = await listen(async (path, form) => {
    asked.push(path);
    return broken.has(path) ? [500, {}] : ((await answers[path]?.(form)) ?? [404, {}]);
  });
  issuer = `http://127.0.0.1:${server.port}`;
  return {
    issuer,
    keys,
    asked,
    broken,
    /** A token, by default a right one of somebody without a name or a role. */
    sign: (terms: TokenTerms = {}) => sign(terms),
    /** What the sign-in page does for an address that led there: the query of the way back. */
    consent: (address: string, consent: Consent): string => {
      const code = `code-${codes.size + asked.length + 1}`;
      const { searchParams } = new URL(address);
      codes.set(code, { asked: searchParams, consent });
      return new URLSearchParams({ code, state: searchParams.get('state') ?? '' }).toString();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
