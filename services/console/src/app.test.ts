import { describe, expect, it } from 'vitest';
import { answered, openConsole, textOf } from './console.fixture.ts';

describe('sign-in', () => {
  it('leads to the page that was wanted, and shows who is signed in', async () => {
    const { signIn, visitor } = openConsole();
    const stranger = await visitor().get('/breaks?kind=x');
    expect([stranger.status, stranger.goesTo]).toEqual([303, '/sign-in?next=%2Fbreaks%3Fkind%3Dx']);
    const ama = await signIn('ama', 'approver');
    expect(textOf((await ama.get('/')).html)).toContain('ama, approver');
  });

  it.each(['//evil.test', 'https://evil.test', '/\\evil.test', '', 'javascript:alert(1)'])(
    'leads nowhere but to a page of ours: %j',
    async (next) => {
      const { visitor, signIn } = openConsole();
      await signIn('ama');
      const body = new URLSearchParams({ token: 'token-of-ama', next });
      expect((await visitor().send('/sign-in', { method: 'POST', body })).goesTo).toBe('/');
    },
  );

  it('says the same for every token that no service knows, and slows who tries more', async () => {
    const { visitor, counted } = openConsole();
    const person = visitor();
    const attempt = () =>
      person.send('/sign-in', { method: 'POST', body: new URLSearchParams({ token: 'a-guess' }) });
    for (let tries = 0; tries < 5; tries += 1) {
      const { status, html } = await attempt();
      expect([status, html.includes('This is no operator token.')]).toEqual([401, true]);
    }
    expect((await attempt()).status).toBe(429);
    expect(counted).toEqual([...Array<string>(5).fill('refused'), 'slowed']);
  });

  it('slows who tries many at once as much', async () => {
    const { visitor, counted } = openConsole();
    const body = () => new URLSearchParams({ token: 'a-guess' });
    await Promise.all(
      Array.from({ length: 8 }, () => visitor().send('/sign-in', { method: 'POST', body: body() })),
    );
    expect(counted.filter((one) => one === 'refused')).toHaveLength(5);
  });

  it('ends after thirty minutes without a click; what a page loads by itself is none', async () => {
    const { signIn, advance } = openConsole();
    const load = await (await signIn('ama')).open();
    advance(29 * 60_000);
    expect((await load('/')).html).toContain('<h1>Today</h1>');
    advance(60_000);
    const ended = await load('/');
    expect([ended.status, ended.answer.headers.get('hx-redirect')]).toEqual([401, '/sign-in?next=%2F']);
  });

  it('takes nothing over from another one: a page that moves by itself is loaded as a whole', async () => {
    const { signIn } = openConsole();
    const ama = await signIn('ama');
    const load = await ama.open();
    ama.jar.cookie = (await signIn('kofi')).jar.cookie;
    const { html, answer } = await load('/');
    expect([html, answer.headers.get('hx-refresh')]).toEqual(['', 'true']);
  });

  it('goes on while somebody clicks, for eight hours at most', async () => {
    const { signIn, advance } = openConsole();
    const ama = await signIn('ama');
    for (let minutes = 20; minutes < 480; minutes += 20) {
      advance(20 * 60_000);
      expect((await ama.get('/')).status).toBe(200);
    }
    advance(20 * 60_000);
    expect((await ama.get('/')).status).toBe(303);
  });

  it('is over after sign-out, even for a copy of the cookie', async () => {
    const { signIn, visitor } = openConsole();
    const ama = await signIn('ama');
    const copy = ama.jar.cookie;
    await ama.post('/sign-out');
    expect((await visitor(copy).get('/')).status).toBe(303);
  });

  it('keeps the token sealed: a cookie that was changed is none', async () => {
    const { signIn, visitor } = openConsole();
    const { cookie } = (await signIn('ama')).jar;
    expect(Buffer.from(cookie.split('=')[1] ?? '', 'base64url').toString('latin1')).not.toContain('token-of');
    for (const at of [20, 40, cookie.length - 2]) {
      const changed = `${cookie.slice(0, at)}${cookie[at] === 'A' ? 'B' : 'A'}${cookie.slice(at + 1)}`;
      expect((await visitor(changed).get('/')).status).toBe(303);
    }
  });

  it('brings somebody who followed a link from elsewhere to their page by a second load', async () => {
    const { visitor } = openConsole();
    const answer = await visitor().get('/breaks', { 'sec-fetch-site': 'cross-site' });
    expect(answer.html).toContain('http-equiv="refresh"');
  });
});

describe('a change', () => {
  it.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }, {}],
    ['of a site beside ours', { 'sec-fetch-site': 'same-site' }, {}],
    ['without the token of this sign-in', {}, { csrf: 'another' }],
  ])('%s is refused, and nothing happens', async (_, headers, fields) => {
    const { signIn } = openConsole();
    const ama = await signIn('ama');
    expect((await ama.post('/sign-out', fields, headers)).status).toBe(403);
    expect((await ama.get('/')).status).toBe(200);
  });

  it('of an older browser is known by its origin', async () => {
    const { app } = { app: openConsole() };
    const ama = await app.signIn('ama');
    const older = (origin: string) =>
      ama.send('/sign-out', {
        method: 'POST',
        headers: { 'sec-fetch-site': '', origin },
        body: new URLSearchParams(),
      });
    expect((await older('http://evil.test')).status).toBe(403);
  });
});

describe('a page', () => {
  it('runs nothing but our files, and is framed by nobody', async () => {
    const { signIn } = openConsole();
    const { answer } = await (await signIn('ama')).get('/');
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('shows what is known where a service gives no answer, and says which', async () => {
    const { signIn } = openConsole({
      'ledger GET /accounts': answered(503, {
        code: 'unavailable',
        message: 'the database does not answer',
      }),
      'reconciler GET /drift': { items: [], next: null },
    });
    const page = textOf((await (await signIn('ama')).get('/money')).html);
    expect(page).toContain('Not available: ledger: the database does not answer');
    expect(page).toContain('No wallet was compared yet');
  });

  it('says that a token is no longer valid', async () => {
    const { signIn } = openConsole({
      'reconciler GET /status': answered(403, { code: 'forbidden', message: 'no' }),
    });
    const page = await (await signIn('ama')).get('/nothing-here');
    expect(page.status).toBe(404);
  });
});
