import { clientAddress, type TrustedProxies } from '@pesewa/addresses';
import type { Clock } from '@pesewa/kernel';
import { ClientError, messageOf } from '@pesewa/operator-client';
import type { Logger } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Cookies } from './cookies.ts';
import { readTheme } from './cookies.ts';
import type { Env } from './environment.ts';
import { type Session, type Sessions, TOKEN_LENGTH_MAX } from './sessions.ts';
import { identify, type OpenUpstream } from './upstream.ts';
import { problemOf } from './view/form.ts';
import { attributes, type Html } from './view/html.ts';

/** What sign-in needs. */
export interface SignInDeps {
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly openUpstream: OpenUpstream;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly proxies: TrustedProxies;
  readonly logger: Pick<Logger, 'info'>;
  readonly counted: (result: 'signed_in' | 'refused' | 'slowed' | 'unavailable') => void;
  /** Shows a page before sign-in. */
  readonly show: (
    context: Context<Env>,
    page: { readonly title: string; readonly body: Html },
    status: 200 | 401 | 429 | 503,
  ) => Promise<Response>;
}

const FAILURES_MAX = 5;
const FAILURES_SECONDS = 60;

/** Adds sign-in, sign-out and the choice of colours. */
export function addSignIn(app: Hono<Env>, deps: SignInDeps): void {
  const { sessions, cookies, clock, counted, show } = deps;
  const failures = createFailures();
  app.get('/sign-in', (context) => show(context, form(context.req.query('next')), 200));
  app.post('/sign-in', async (context) => {
    const { token: given = '', next } = context.get('fields');
    const token = given.trim();
    const again = (problem: string, status: 401 | 429 | 503) => show(context, form(next, problem), status);
    const peerAddress = context.env?.incoming?.socket.remoteAddress;
    const forwardedFor = context.req.header('x-forwarded-for');
    const from = clientAddress({ ...deps.proxies, peerAddress, forwardedFor }) ?? 'unknown';
    if (!(await failures.mayTry(from))) {
      counted('slowed');
      return again('Too many wrong tokens: wait a minute and try again.', 429);
    }
    try {
      const isToken = token !== '' && token.length <= TOKEN_LENGTH_MAX && !/[^\x21-\x7e]/.test(token);
      const operator = isToken ? await identify(deps.openUpstream(token)) : undefined;
      if (!operator) {
        counted('refused');
        return await again('This is no operator token.', 401);
      }
      await failures.forgive(from);
      const nowMs = clock.nowMs();
      const text = (count: number) => Buffer.from(deps.randomBytes(count)).toString('base64url');
      const common = { id: text(16), csrf: text(24), signedInAtMs: nowMs, usedAtMs: nowMs };
      const session: Session = { ...operator, ...common, token };
      cookies.setSession(context, session);
      counted('signed_in');
      deps.logger.info({ operator: operator.name, from }, 'an operator signed in');
      return context.redirect(ownPath(next), 303);
    } catch (error) {
      await failures.forgive(from);
      if (!(error instanceof ClientError)) throw error;
      counted('unavailable');
      return again(`Nobody can sign in now: ${messageOf(error)}`, 503);
    }
  });
  app.post('/sign-out', (context) => {
    const session = context.get('session');
    if (session) {
      sessions.end(session);
      deps.logger.info({ operator: session.name }, 'an operator signed out');
    }
    cookies.clearSession(context);
    context.header('Clear-Site-Data', '"cache"');
    return context.redirect('/sign-in', 303);
  });
  app.post('/theme', (context) => {
    const { theme, back } = context.get('fields');
    cookies.setTheme(context, readTheme(theme));
    return context.redirect(ownPath(back), 303);
  });
}

/**
 * Slows those who try tokens, per address. There is no limit on all of them together: it would only let strangers keep our
 * people out, because nobody guesses a token.
 */
function createFailures() {
  const limiter = new RateLimiterMemory({ points: FAILURES_MAX, duration: FAILURES_SECONDS });
  return {
    /** Counts a try before its outcome is known: those that are under way at once are as many as in turn. */
    mayTry: (address: string) =>
      limiter.consume(address).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RateLimiterRes) return false;
          throw error;
        },
      ),
    /** Takes a try back that was no wrong token. */
    forgive: (address: string) => limiter.reward(address),
  };
}

/** A path of the console, or its first page: a sign-in leads nowhere else. */
function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/';
}

function form(next: string | undefined, problem?: string): { readonly title: string; readonly body: Html } {
  const body = html`<form method="post" action="/sign-in" class="form sign-in">${problemOf(problem)}
<input type="hidden" name="next" value="${ownPath(next)}">
<div class="field"><label for="token">Your operator token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required${attributes({ autofocus: true, 'aria-invalid': problem === undefined ? undefined : 'true' })}>
<small>Who runs this hub gave it to you. It stays in this browser, sealed, until you sign out.</small></div>
<button type="submit" class="primary">Sign in</button></form>`;
  return { title: 'Sign in', body };
}
