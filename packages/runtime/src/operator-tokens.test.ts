import { createHash, createHmac, type webcrypto } from 'node:crypto';
import { createIssuerKey, openIssuer } from '@pesewa/testkit';
import { Hono } from 'hono';
import { exportSPKI, importJWK } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { parseConfig } from './config.ts';
import { createLogger } from './logger.ts';
import { guardOperator } from './operations.ts';
import { createTokenVerifier, issuerSettings } from './operator-tokens.ts';
import { createOperators, operatorsProblem } from './operators.ts';

const NOW_MS = Date.parse('2026-11-27T12:00:00Z');
const AUDIENCE = 'pesewa';

const readSettings = (environment: Readonly<Record<string, string>>) =>
  parseConfig(z.object(issuerSettings), environment);

/** A service that knows ama by a token of her own, and whoever the issuer vouches for. */
async function openService(settings: Readonly<Record<string, string>> = {}) {
  let nowMs = NOW_MS;
  const issuer = await openIssuer(() => nowMs);
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const config = readSettings({ OPERATORS_ISSUER: issuer.issuer, OPERATORS_AUDIENCE: AUDIENCE, ...settings });
  const logger = createLogger({ name: 'test', level: 'silent' });
  const verify = createTokenVerifier(config, {
    clock: { nowMs: () => nowMs },
    monotonicMs: () => nowMs,
    logger,
  });
  const tokenHash = createHash('sha256').update('token-of-ama').digest();
  const operators = createOperators(
    'the-main-token',
    [{ name: 'ama', role: 'viewer', tokenHash }],
    false,
    verify,
  );
  const app = guardOperator(new Hono(), operators);
  const ask = async (token: string) => {
    const answer = await app.request('/operator', { headers: { authorization: `Bearer ${token}` } });
    const { name, role, code, message } = (await answer.json()) as Readonly<Record<string, string>>;
    return answer.status === 200 ? `${name}, ${role}` : `${answer.status} ${code}: ${message}`;
  };
  const right = { aud: AUDIENCE, preferred_username: 'kofi.mensah@example.com', roles: ['pesewa:approver'] };
  return {
    ...issuer,
    ask,
    right,
    token: (claims: object = {}, terms: Parameters<typeof issuer.sign>[0] = {}) =>
      issuer.sign({ ...terms, claims: { ...right, ...claims } }),
    keysAsked: () => issuer.asked.filter((path) => path === '/keys').length,
    advance: (byMs: number) => {
      nowMs += byMs;
    },
  };
}

const KOFI = 'kofi.mensah@example.com, approver';
const WRONG = '403 forbidden: the operator token is wrong';
const seconds = (fromNow: number) => NOW_MS / 1_000 + fromNow;

describe("an issuer's token", () => {
  it('is as good as a token of OPERATORS, with the highest of its roles', async () => {
    const { ask, token } = await openService();
    expect(await ask(await token())).toBe(KOFI);
    const roles = ['pesewa:viewer', 'other:admin', 'pesewa:operator', 'pesewa:owner'];
    expect(await ask(await token({ roles }))).toBe('kofi.mensah@example.com, operator');
    expect(await ask('token-of-ama')).toBe('ama, viewer');
    expect(await ask('the-main-token')).toBe('operator, viewer');
  });

  it.each(['RS256', 'PS256', 'EdDSA'])('may be signed by %s', async (algorithm) => {
    const { ask, token, keys } = await openService();
    keys.push(await createIssuerKey('another', algorithm));
    expect(await ask(await token())).toBe(KOFI);
  });

  it('names people and roles in the claims of the settings', async () => {
    const settings = { OPERATORS_NAME_CLAIM: 'sub', OPERATORS_ROLES_CLAIM: 'https://example.com/groups' };
    const { ask, token } = await openService(settings);
    const groups = { 'https://example.com/groups': ['pesewa:admin'] };
    expect(await ask(await token({ sub: '6f1c', ...groups }))).toBe('6f1c, admin');
  });

  it.each([
    ['of another issuer', { iss: 'https://evil.test' }, `${WRONG}: its claim iss`],
    ['for another audience', { aud: 'shop' }, `${WRONG}: its claim aud`],
    ['for nobody', { aud: undefined }, `${WRONG}: its claim aud`],
    [
      'that has expired',
      { exp: seconds(-60) },
      "403 forbidden: the operator's token has expired: sign in again",
    ],
    ['that never expires', { exp: undefined }, `${WRONG}: its claim exp`],
    ['of tomorrow', { nbf: seconds(61) }, `${WRONG}: its claim nbf`],
  ])('%s is refused', async (_, claims, answer) => {
    const { ask, token } = await openService();
    expect(await ask(await token(claims))).toBe(answer);
  });

  it('may be off by less than a minute', async () => {
    const { ask, token } = await openService();
    expect(await ask(await token({ exp: seconds(-59), nbf: seconds(60) }))).toBe(KOFI);
  });

  it.each([
    ['none at all', { roles: undefined }],
    ['none of ours', { roles: ['admin', 'pesewa:root', 'xpesewa:admin'] }],
    ['a text', { roles: 'pesewa:admin' }],
  ])('without a role is refused: %s', async (_, claims) => {
    const { ask, token } = await openService();
    expect(await ask(await token(claims))).toMatch(
      /^403 forbidden: the token's claim roles gives kofi.* no role/,
    );
  });

  it.each([
    ['absent', undefined],
    ['no text', ['kofi']],
    ['too short', 'k'],
    ['too long', 'k'.repeat(41)],
    ['with a blank', 'kofi mensah'],
    ['with a sign that becomes a letter in lower case', '\u212Aofi'],
    ['of two lines', 'kofi\n'],
  ])('whose name is %s is refused, and no other claim stands in for it', async (_, name) => {
    const { ask, token } = await openService();
    const claims = { preferred_username: name, email: 'kofi@example.com' };
    expect(await ask(await token(claims))).toMatch(
      /^403 forbidden: the token's claim preferred_username must be a name/,
    );
  });

  it.each(['ama', 'Ama', 'operator'])('makes nobody one of our own operators: %s', async (name) => {
    const { ask, token } = await openService();
    expect(await ask(await token({ preferred_username: name }))).toBe(
      `403 forbidden: ${name.toLowerCase()} is an operator with a token of their own`,
    );
  });

  it('names the same person whether in capitals or not', async () => {
    const { ask, token } = await openService();
    expect(await ask(await token({ preferred_username: 'Kofi.Mensah@Example.com' }))).toBe(KOFI);
  });
});

describe('a forged token is refused:', () => {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = (right: object, issuer: string) => encoded({ ...right, iss: issuer, exp: seconds(600) });

  it('without a signature', async () => {
    const { ask, right, issuer } = await openService();
    expect(await ask(`${encoded({ alg: 'none' })}.${payload(right, issuer)}.`)).toBe(WRONG);
  });

  it('with the public key as a secret', async () => {
    const { ask, right, issuer, keys } = await openService();
    const [key] = keys;
    const pem = await exportSPKI(
      (await importJWK(key?.publicKey ?? {}, 'ES256', { extractable: true })) as webcrypto.CryptoKey,
    );
    const signed = `${encoded({ alg: 'HS256', kid: 'key-1' })}.${payload(right, issuer)}`;
    for (const secret of [pem, JSON.stringify(key?.publicKey)]) {
      expect(await ask(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`)).toBe(
        WRONG,
      );
    }
  });

  it('by a key of the forger with the name of ours', async () => {
    const { ask, token } = await openService();
    expect(await ask(await token({}, { key: await createIssuerKey('key-1') }))).toBe(WRONG);
  });

  it('by a key that it brings along', async () => {
    const { ask, token, asked } = await openService();
    const key = await createIssuerKey('key-1');
    expect(await ask(await token({}, { key, header: { jwk: key.publicKey, jku: 'http://evil.test' } }))).toBe(
      WRONG,
    );
    expect(asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('with another payload', async () => {
    const { ask, token } = await openService();
    const [header, , signature] = (await token()).split('.');
    const [, admin] = (await token({ roles: ['pesewa:admin'] })).split('.');
    expect(await ask(`${header}.${admin}.${signature}`)).toBe(WRONG);
    expect(await ask('a.b.c')).toBe(WRONG);
  });
});

describe('the keys of an issuer', () => {
  it('are fetched once for all tokens', async () => {
    const { ask, token, asked } = await openService();
    const mine = await token();
    expect(await Promise.all([ask(mine), ask(mine), ask(mine)])).toEqual([KOFI, KOFI, KOFI]);
    expect(await ask(mine)).toBe(KOFI);
    expect(asked).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('are asked for once in half a minute, however many unknown ones tokens name', async () => {
    const { ask, token, keysAsked, advance } = await openService();
    expect(await ask(await token())).toBe(KOFI);
    advance(30_000);
    for (const id of ['x-1', 'x-2', 'x-3']) {
      expect(await ask(await token({}, { key: await createIssuerKey(id) }))).toBe(WRONG);
    }
    expect(keysAsked()).toBe(2);
  });

  it('may change: a new one is found, and a withdrawn one forgotten', async () => {
    const { ask, token, keys, advance } = await openService();
    const before = await token();
    expect(await ask(before)).toBe(KOFI);
    keys.splice(0, 1, await createIssuerKey('key-2'));
    advance(30_000);
    expect(await ask(await token())).toBe(KOFI);
    expect(await ask(before)).toBe(WRONG);
  });

  it('are fetched anew after five minutes, beside the requests', async () => {
    const { ask, token, keysAsked, advance } = await openService();
    expect(await ask(await token())).toBe(KOFI);
    advance(300_000);
    expect(await ask(await token())).toBe(KOFI);
    await expect.poll(keysAsked).toBe(2);
  });

  it.each(['/.well-known/openid-configuration', '/keys'])(
    'make tokens wait, not wrong, while they can’t be fetched: %s',
    async (path) => {
      const { ask, token, broken, advance, asked } = await openService();
      broken.add(path);
      const silent = /^503 unavailable: 127\.0\.0\.1:\d+ does not answer/;
      expect(await ask(await token())).toMatch(silent);
      const before = asked.length;
      expect(await ask(await token())).toMatch(silent);
      expect(asked).toHaveLength(before);
      expect(await ask('token-of-ama')).toBe('ama, viewer');
      broken.clear();
      advance(30_000);
      expect(await ask(await token())).toBe(KOFI);
    },
  );

  it('stay of use for an hour without the issuer; one that is not among them may be new', async () => {
    const { ask, token, broken, advance } = await openService();
    expect(await ask(await token())).toBe(KOFI);
    broken.add('/keys');
    advance(3_599_000);
    expect(await ask(await token())).toBe(KOFI);
    expect(await ask(await token({}, { key: await createIssuerKey('key-2') }))).toMatch(/^503/);
    advance(1_000);
    expect(await ask(await token())).toMatch(/^503/);
  });

  it('are none if the issuer calls itself something else', async () => {
    const { issuer, ...service } = await openService();
    const other = issuer.replace('127.0.0.1', 'localhost');
    const { ask } = await openService({ OPERATORS_ISSUER: other });
    expect(await ask(await service.token({ iss: other }))).toMatch(/^503/);
  });
});

describe('the settings of an issuer', () => {
  it.each(['http://login.example.com', 'ftp://127.0.0.1', 'login.example.com', 'http://127.0.0.1.evil.test'])(
    'refuse an address that others can change on the way: %s',
    (OPERATORS_ISSUER) => {
      expect(() => readSettings({ OPERATORS_ISSUER })).toThrow(/OPERATORS_ISSUER: must be an https:/);
    },
  );

  it('go together', () => {
    const own = { OPERATOR_TOKEN: 'the-main-token', OPERATORS: [] };
    const problem = 'OPERATORS_AUDIENCE: give it together with OPERATORS_ISSUER, or none of them';
    expect(operatorsProblem({ ...own, OPERATORS_ISSUER: 'https://login.example.com' })).toBe(problem);
    expect(operatorsProblem({ ...own, OPERATORS_AUDIENCE: AUDIENCE })).toBe(problem);
    expect(operatorsProblem(own)).toBeUndefined();
  });
});
