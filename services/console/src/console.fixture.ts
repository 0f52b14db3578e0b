import { text } from 'node:stream/consumers';
import type { CallerView, MessagingService, OperatorRole } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import type { OperationsAnswer, OperationsExchange } from '@pesewa/operator-client';
import { createLogger } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { createIssuer } from './issuer.ts';
import type { Sandbox } from './sandbox.ts';
import { createSessions } from './sessions.ts';
import { createUpstream, type OpenUpstream, type Transport } from './upstream.ts';

/** The time of tests. */
export const NOW_MS = Date.parse('2026-11-27T12:00:00Z');

/** A request to an operator API. */
export interface Asked {
  /** Such as `ledger POST /commands/fund`, with the query. */
  readonly what: string;
  readonly body: unknown;
  /** Who asked. */
  readonly by: string;
}

/** What services answer, by `ledger GET /commands` with or without the query; a body means 200. Anything else is 404. */
export type Answers = Readonly<Record<string, unknown>>;

/** An answer with a status of its own. */
export const answered = (status: number, body: unknown): OperationsAnswer => ({ status, body });

const services = [
  'ledger',
  'reconciler',
  'payout-gateway',
  'collection-gateway',
  'webhook-ingress',
  'webhook-dispatcher',
] as const satisfies readonly MessagingService[];

/** Services that answer as they are told, and the callers they know by token. */
function openServices(answers: Answers) {
  const asked: Asked[] = [];
  const callers = new Map<string, CallerView>();
  const exchange: OperationsExchange = async ({ url, token, method, body }) => {
    const [service = '', path = ''] = /^http:\/\/([^/]+)(\/.*)$/.exec(url)?.slice(1) ?? [];
    const caller = callers.get(token);
    if (path === '/operator') {
      return caller ? answered(200, caller) : answered(403, { code: 'forbidden', message: 'a wrong token' });
    }
    const what = `${service} ${method ?? (body === undefined ? 'GET' : 'POST')} ${path}`;
    asked.push({ what, body, by: caller?.name ?? '' });
    const given = answers[what] ?? answers[what.split('?', 1)[0] ?? ''];
    if (given === undefined) return answered(404, { code: 'not_found', message: `nothing for ${what}` });
    const answer = typeof given === 'function' ? await (given as (body: unknown) => unknown)(body) : given;
    return isAnswer(answer) ? answer : answered(200, answer);
  };
  const transport: Transport = {
    exchange,
    fetch: async (url, token) => {
      const { status, body } = await exchange({ url, token });
      const isText = typeof body === 'string';
      const headers = { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="a.csv"' };
      return new Response(isText ? body : JSON.stringify(body), { status, headers });
    },
    send: async ({ url, token, content }) => exchange({ url, token, body: await text(content) }),
  };
  const addresses = Object.fromEntries(services.map((service) => [service, `http://${service}`]));
  const openUpstream = createUpstream(addresses as Record<MessagingService, string>, transport);
  return { asked, callers, openUpstream };
}

type App = ReturnType<typeof createApp>;

/** Somebody's browser: it keeps the cookie of a sign-in, and fills in forms as a page of it would. */
function openVisitor(app: App, cookie = '') {
  const jar = { cookie, pending: '' };
  const send = async (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (!headers.has('sec-fetch-site')) headers.set('sec-fetch-site', 'same-origin');
    const comesFromElsewhere = headers.get('sec-fetch-site') === 'cross-site' && init.method === undefined;
    const cookies = [comesFromElsewhere ? '' : jar.cookie, jar.pending].filter((one) => one !== '');
    if (cookies.length > 0) headers.set('cookie', cookies.join('; '));
    const answer = await app.request(`http://console.test${path}`, { ...init, headers });
    for (const [set = ''] of answer.headers.getSetCookie().map((one) => one.split(';', 1))) {
      if (set.startsWith('pesewa-session=')) jar.cookie = set;
      if (set.startsWith('pesewa-pending=')) jar.pending = set.endsWith('=') ? '' : set;
    }
    const goesTo = answer.headers.get('location');
    return { status: answer.status, html: await answer.text(), goesTo, answer };
  };
  type Fields = Readonly<Record<string, string>>;
  return {
    jar,
    get: (path: string, headers: Fields = {}) => send(path, { headers }),
    /** Loads a page now; the function that it gives loads from then on what such a page loads by itself. */
    open: async () => {
      const [, mark = ''] = /x-sign-in&quot;:&quot;(\w+)/.exec((await send('/', {})).html) ?? [];
      return (path: string) =>
        send(path, {
          headers: [
            ['hx-request', 'true'],
            ['x-sign-in', mark],
          ],
        });
    },
    /** Sends a form as a page of the same sign-in would. */
    post: async (path: string, fields: Fields = {}, headers: Fields = {}) => {
      const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec((await send('/', {})).html) ?? [];
      return send(path, { method: 'POST', headers, body: new URLSearchParams({ csrf, ...fields }) });
    },
    send,
  };
}

/** The console over services that answer as they are told; `asked` has every request in order. */
export function openConsole(
  answers: Answers = {},
  sandbox?: Sandbox,
  others: { readonly issuer?: string; readonly openUpstream?: OpenUpstream } = {},
) {
  const { asked, callers, openUpstream } = { ...openServices(answers), ...others };
  let nowMs = NOW_MS;
  let random = 0;
  const randomBytes = (count: number) => {
    random += 1;
    return new Uint8Array(count).fill(random);
  };
  const sealing = { keys: [new Uint8Array(32).fill(7)], isProduction: false };
  const sessions = createSessions({
    ...sealing,
    idleMs: 1_800_000,
    absoluteMs: 28_800_000,
  });
  const counted: string[] = [];
  const ownOrigin = 'http://console.test';
  const clock = { nowMs: () => nowMs, sleep: systemClock.sleep };
  const logger = createLogger({ name: 'test', level: 'silent' });
  const client = { OIDC_CLIENT_ID: 'console', OIDC_CLIENT_SECRET: 'a-secret', OIDC_SCOPES: 'openid profile' };
  const app = createApp({
    sessions,
    openUpstream,
    clock,
    logger,
    randomBytes,
    proxies: { trustedProxies: 0 },
    counted: (result) => void counted.push(result),
    ownOrigin,
    issuer: createIssuer(
      { ...client, OPERATORS_ISSUER: others.issuer },
      { ownOrigin, clock, logger, sealing },
    ),
    isProduction: false,
    zone: 'UTC',
    sandbox,
    newId: () => {
      random += 1;
      return `cm-${random}`;
    },
  });
  return {
    asked,
    counted,
    /** Who has which token. */
    callers,
    visitor: (cookie?: string) => openVisitor(app, cookie),
    advance: (byMs: number) => {
      nowMs += byMs;
    },
    /** Somebody who is signed in. */
    signIn: async (name: string, role: OperatorRole = 'admin') => {
      callers.set(`token-of-${name}`, { name, role });
      const person = openVisitor(app);
      const body = new URLSearchParams({ token: `token-of-${name}`, next: '/' });
      await person.send('/sign-in', { method: 'POST', body });
      return person;
    },
    revoke: (name: string) => callers.delete(`token-of-${name}`),
  };
}

function isAnswer(given: unknown): given is OperationsAnswer {
  return typeof given === 'object' && given !== null && Object.keys(given).join() === 'status,body';
}

/** The text of a page, without its tags. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<(script|style|head)[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
