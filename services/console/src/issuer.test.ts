import { defineService, parseConfig, serviceSettings } from '@pesewa/runtime';
import { openIssuer, reservePorts } from '@pesewa/testkit';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { settings } from './config.ts';
import { NOW_MS, openConsole, textOf } from './console.fixture.ts';
import { createUpstream, type OpenUpstream } from './upstream.ts';

// The library for OpenID Connect reads the machine's own clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }));
afterEach(() => void vi.useRealTimers());

/** The console with an issuer, at which kofi has an account. */
async function openBoth(openUpstream?: OpenUpstream) {
  const issuer = await openIssuer();
  onTestFinished(() => issuer[Symbol.asyncDispose]());
  const app = openConsole({}, undefined, {
    issuer: issuer.issuer,
    ...(openUpstream && { openUpstream }),
  });
  const accessToken = await issuer.sign({ claims: { preferred_username: 'kofi' } });
  app.callers.set(accessToken, { name: 'kofi', role: 'approver' });
  const person = () => {
    const visitor = app.visitor();
    return {
      ...visitor,
      /** Goes to the issuer; gives the address there. */
      begin: async (next = '/') =>
        (await visitor.get(`/sign-in/issuer?next=${encodeURIComponent(next)}`)).goesTo ?? '',
      /** Comes back with this query, as a browser does that another site sends. */
      comeBack: (query: string) =>
        visitor.get(`/sign-in/callback?${query}`, { 'sec-fetch-site': 'cross-site' }),
    };
  };
  return { ...app, issuer, host: new URL(issuer.issuer).host, accessToken, person };
}

const refreshTo = (html: string) => /content="0;url=([^"]*)"/.exec(html)?.[1];

describe('sign-in at the issuer', () => {
  it('is offered beside the token, if there is one', async () => {
    const { person, host } = await openBoth();
    const { html } = await person().get('/sign-in?next=%2Fbreaks');
    expect(html).toContain(`<a href="/sign-in/issuer?next=%2Fbreaks">Sign in with ${host}</a>`);
    expect(html).toContain('name="token"');
    const without = openConsole().visitor();
    expect((await without.get('/sign-in')).html).not.toContain('Sign in with');
    expect((await without.get('/sign-in/callback?code=x')).goesTo).toMatch(/^\/sign-in\?/);
  });

  it('leads there with PKCE, state and nonce, which a cookie of ten minutes keeps', async () => {
    const { person, issuer } = await openBoth();
    const { goesTo, answer } = await person().get('/sign-in/issuer');
    const address = new URL(goesTo ?? '');
    expect(`${address.origin}${address.pathname}`).toBe(`${issuer.issuer}/authorize`);
    const secret = expect.stringMatching(/^[\w-]{43}$/) as string;
    expect(Object.fromEntries(address.searchParams)).toEqual({
      client_id: 'console',
      response_type: 'code',
      redirect_uri: 'http://console.test/sign-in/callback',
      scope: 'openid profile',
      state: secret,
      nonce: secret,
      code_challenge: secret,
      code_challenge_method: 'S256',
    });
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^pesewa-pending=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
    const sealed = Buffer.from(/=([\w.-]+)/.exec(cookie)?.[1] ?? '', 'base64url').toString('latin1');
    expect(sealed).not.toContain(address.searchParams.get('state'));
  });

  it('ends at the page that was wanted, with the session of the access token', async () => {
    const { person, issuer, accessToken, counted, asked } = await openBoth();
    const kofi = person();
    const back = issuer.consent(await kofi.begin('/breaks?kind=x'), { accessToken });
    const { status, html, answer } = await kofi.comeBack(back);
    expect([status, refreshTo(html)]).toEqual([200, '/breaks?kind=x']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^pesewa-pending=; Max-Age=0;/),
      expect.stringMatching(/^pesewa-session=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect(textOf((await kofi.get('/')).html)).toContain('kofi, approver');
    expect(asked.every(({ by }) => by === 'kofi')).toBe(true);
    expect(counted).toEqual(['signed_in']);
  });

  it.each([
    '//evil.test',
    'https://evil.test',
    '/\\evil.test',
    '',
    'javascript:alert(1)',
    `/${'x'.repeat(1_000)}`,
  ])('leads nowhere but to a page of ours: %j', async (next) => {
    const { person, issuer, accessToken } = await openBoth();
    const kofi = person();
    const { html } = await kofi.comeBack(issuer.consent(await kofi.begin(next), { accessToken }));
    expect(refreshTo(html)).toBe('/');
  });

  it('lasts no longer than its access token', async () => {
    const { person, issuer, accessToken, advance } = await openBoth();
    const kofi = person();
    await kofi.comeBack(issuer.consent(await kofi.begin(), { accessToken }));
    advance(599_000);
    expect((await kofi.get('/')).status).toBe(200);
    advance(1_000);
    expect((await kofi.get('/')).goesTo).toBe('/sign-in?next=%2F');
  });

  it('goes the whole way to a service that verifies the token', async () => {
    const ports = await reservePorts(2);
    await Promise.all(ports.map((reserved) => reserved.release()));
    const [port, operationsPort] = ports.map((reserved) => reserved.port);
    const openUpstream = createUpstream({ ledger: `http://127.0.0.1:${operationsPort}` } as never);
    const { person, issuer } = await openBoth(openUpstream);
    const service = defineService({ name: 'ledger', settings: serviceSettings, compose: async () => {} })
      .configure({
        PORT: String(port),
        OPERATIONS_PORT: String(operationsPort),
        OPERATOR_TOKEN: 'a-token-of-several',
        OPERATORS_ISSUER: issuer.issuer,
        OPERATORS_AUDIENCE: 'pesewa',
        LOG_LEVEL: 'silent',
      })
      .open({ withinMs: 1_000 });
    await service.start(async () => {});
    onTestFinished(async () => void (await service.shutdown.close()));
    const right = { aud: 'pesewa', preferred_username: 'kofi', roles: ['pesewa:operator'] };
    const kofi = person();
    const comeWith = async (claims: object) =>
      kofi.comeBack(
        issuer.consent(await kofi.begin(), {
          accessToken: await issuer.sign({ claims: { ...right, ...claims } }),
        }),
      );
    expect(textOf((await comeWith({ roles: ['staff'] })).html)).toContain('claim roles gives kofi no role');
    expect(textOf((await comeWith({ aud: 'shop' })).html)).toContain(
      'the operator token is wrong: its claim aud',
    );
    expect(refreshTo((await comeWith({})).html)).toBe('/');
    expect(textOf((await kofi.get('/sign-in')).html)).toContain('kofi, operator');
  });
});

describe('what comes back is refused', () => {
  const FOREIGN = 'does not belong to this sign-in: begin again';

  it('if it is of another state, issuer or nonce', async () => {
    const { person, issuer, accessToken, counted } = await openBoth();
    const kofi = person();
    const change: readonly ((query: URLSearchParams) => void)[] = [
      (query) => query.set('state', 'x'.repeat(43)),
      (query) => query.delete('state'),
      (query) => query.set('iss', 'https://evil.test'),
    ];
    for (const one of change) {
      const query = new URLSearchParams(issuer.consent(await kofi.begin(), { accessToken }));
      one(query);
      const { status, html } = await kofi.comeBack(query.toString());
      expect([status, textOf(html)]).toEqual([401, expect.stringContaining(FOREIGN)]);
    }
    expect(issuer.asked).not.toContain('/token');
    const { status, html } = await kofi.comeBack(
      issuer.consent(await kofi.begin(), { accessToken, nonce: 'of-another-sign-in' }),
    );
    expect([status, textOf(html)]).toEqual([401, expect.stringContaining(FOREIGN)]);
    expect(kofi.jar.cookie).toBe('');
    expect(counted).toEqual(Array<string>(4).fill('refused'));
  });

  it('if its code was used before, even with a copy of its cookie', async () => {
    const { person, issuer, accessToken } = await openBoth();
    const kofi = person();
    const back = issuer.consent(await kofi.begin(), { accessToken });
    const copy = kofi.jar.pending;
    expect((await kofi.comeBack(back)).status).toBe(200);
    expect(kofi.jar.pending).toBe('');
    const thief = person();
    thief.jar.pending = copy;
    const { status, html } = await thief.comeBack(back);
    expect([status, textOf(html), thief.jar.cookie]).toEqual([401, expect.stringContaining(FOREIGN), '']);
  });

  it('if its code is of somebody else’s sign-in', async () => {
    const { person, issuer, accessToken } = await openBoth();
    const [kofi, other] = [person(), person()];
    const stolen = new URLSearchParams(issuer.consent(await kofi.begin(), { accessToken }));
    stolen.set('state', new URL(await other.begin()).searchParams.get('state') ?? '');
    expect((await other.comeBack(stolen.toString())).status).toBe(401);
    expect(other.jar.cookie).toBe('');
  });

  it('if no sign-in began in this browser, or ten minutes ago; that counts as no wrong try', async () => {
    const { person, issuer, accessToken, advance, counted } = await openBoth();
    const kofi = person();
    const back = issuer.consent(await kofi.begin(), { accessToken });
    const tooLate = [401, expect.stringContaining('took too long, or began in another browser')];
    for (let tries = 0; tries < 6; tries += 1) {
      const { status, html } = await person().comeBack(back);
      expect([status, textOf(html)]).toEqual(tooLate);
    }
    advance(600_000);
    const { status, html } = await kofi.comeBack(back);
    expect([status, textOf(html)]).toEqual(tooLate);
    expect(issuer.asked).not.toContain('/token');
    expect(counted).toEqual([]);
  });

  it('if its cookie was sealed for another purpose', async () => {
    const { person, issuer, accessToken, signIn } = await openBoth();
    const kofi = person();
    const back = issuer.consent(await kofi.begin(), { accessToken });
    const swapped = person();
    swapped.jar.cookie = kofi.jar.pending.replace('pending', 'session');
    swapped.jar.pending = (await signIn('ama')).jar.cookie.replace('session', 'pending');
    expect((await swapped.get('/')).status).toBe(303);
    expect((await swapped.comeBack(back)).status).toBe(401);
  });

  it.each([
    ['access_denied', 'refused it: access_denied.'],
    ['<b>Call +233', 'refused it.'],
  ])('if the issuer refuses, of which only the code is shown: %s', async (error, shown) => {
    const { person, host } = await openBoth();
    const kofi = person();
    const state = new URL(await kofi.begin()).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error, error_description: 'Call +233 to go on', state });
    const { status, html } = await kofi.comeBack(query.toString());
    expect([status, textOf(html)]).toEqual([401, expect.stringContaining(`${host} ${shown}`)]);
    expect(html).not.toContain('+233');
  });

  it('if its token is too long for a cookie', async () => {
    const { person, issuer } = await openBoth();
    const kofi = person();
    const accessToken = await issuer.sign({ claims: { groups: 'x'.repeat(2_800) } });
    const { status, html } = await kofi.comeBack(issuer.consent(await kofi.begin(), { accessToken }));
    expect([status, textOf(html)]).toEqual([401, expect.stringContaining('ask for one with fewer claims')]);
  });

  it('without asking the issuer, after five times within a minute', async () => {
    const { person, issuer, accessToken, counted } = await openBoth();
    const kofi = person();
    const forged = async () => {
      const state = new URL(await kofi.begin()).searchParams.get('state') ?? '';
      return (await kofi.comeBack(`code=a-guess&state=${state}`)).status;
    };
    for (let tries = 0; tries < 5; tries += 1) expect(await forged()).toBe(401);
    const asked = issuer.asked.length;
    expect(await forged()).toBe(429);
    expect((await kofi.comeBack(issuer.consent(await kofi.begin(), { accessToken }))).status).toBe(429);
    expect(issuer.asked).toHaveLength(asked);
    expect(counted).toEqual([...Array<string>(5).fill('refused'), 'slowed', 'slowed']);
  });
});

describe('an issuer that is down', () => {
  it('is told, and its sign-in works once it is back', async () => {
    const { person, issuer, host, accessToken, counted } = await openBoth();
    const kofi = person();
    const silent = [503, expect.stringContaining(`Nobody can sign in at ${host} now`)];
    issuer.broken.add('/.well-known/openid-configuration');
    const begun = await kofi.get('/sign-in/issuer');
    expect([begun.status, textOf(begun.html)]).toEqual(silent);
    issuer.broken.clear();
    const back = issuer.consent(await kofi.begin(), { accessToken });
    issuer.broken.add('/token');
    const { status, html } = await kofi.comeBack(back);
    expect([status, textOf(html)]).toEqual(silent);
    issuer.broken.clear();
    expect((await kofi.comeBack(issuer.consent(await kofi.begin(), { accessToken }))).status).toBe(200);
    expect(counted).toEqual(['unavailable', 'unavailable', 'signed_in']);
  });
});

it.each([
  { OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 'a-secret' },
  { OIDC_CLIENT_ID: 'console', OPERATORS_ISSUER: 'https://login.example.com' },
  { OIDC_CLIENT_SECRET: 'a-secret', OPERATORS_ISSUER: 'https://login.example.com' },
])('the settings of sign-in at the issuer go together: %j', (given) => {
  const read = () =>
    parseConfig(settings, { OPERATOR_TOKEN: 'a-token-of-several', NODE_ENV: 'test', ...given });
  expect(read).toThrow(/OIDC_CLIENT_ID: goes together with OIDC_CLIENT_SECRET and OPERATORS_ISSUER/);
});
