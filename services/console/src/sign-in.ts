import { clientAddress, type TrustedProxies } from '@pesewa/addresses';
import type { CallerView } from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { ClientError, messageOf, type RefusedError } from '@pesewa/operator-client';
import type { Logger } from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Cookies } from './cookies.ts';
import { readTheme } from './cookies.ts';
import type { Env } from './environment.ts';
import { CALLBACK_PATH, type Issuer, type SignInProblem } from './issuer.ts';
import { type Session, type Sessions, TOKEN_LENGTH_MAX } from './sessions.ts';
import { identify, type OpenUpstream } from './upstream.ts';
import { problemOf } from './view/form.ts';
import { attributes, type Html, link } from './view/html.ts';
import { leadOn } from './view/layout.ts';

/** What sign-in needs. */
export interface SignInDeps {
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  /** Where operators may sign in too; absent if there is none. */
  readonly issuer?: Issuer | undefined;
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
const ISSUER_PATH = '/sign-in/issuer';
const NO_TOKEN = 'This is no operator token.';
const TOO_LATE = 'This sign-in took too long, or began in another browser: begin again.';
/** The path that was wanted shares a cookie with what else a sign-in needs. */
const NEXT_LENGTH_MAX = 1_000;

/** Adds sign-in, sign-out and the choice of colours. */
export function addSignIn(app: Hono<Env>, deps: SignInDeps): void {
  const { sessions, cookies, issuer } = deps;
  const tryIn = createTries(deps);
  app.get('/sign-in', (context) => deps.show(context, signInPage(issuer, context.req.query('next')), 200));
  app.post('/sign-in', (context) => {
    const { token: given = '', next } = context.get('fields');
    const token = given.trim();
    return tryIn(context, next, {
      readToken: async () => accept(token),
      explain: () => NO_TOKEN,
      lead: (path) => context.redirect(path, 303),
    });
  });
  if (issuer) addIssuer(app, deps, issuer, tryIn);
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

/** Adds the way to the issuer and back. */
function addIssuer(
  app: Hono<Env>,
  deps: SignInDeps,
  issuer: Issuer,
  tryIn: ReturnType<typeof createTries>,
): void {
  const { cookies, clock, counted, show } = deps;
  app.get(ISSUER_PATH, async (context) => {
    const next = ownPath(context.req.query('next'));
    const begun = await issuer.begin(next.length > NEXT_LENGTH_MAX ? '/' : next);
    if (!begun.ok) {
      counted('unavailable');
      return show(context, signInPage(issuer, next, begun.refusal.problem), begun.refusal.status);
    }
    cookies.setPending(context, begun.value.pending);
    return context.redirect(begun.value.page.href, 303);
  });
  app.get(CALLBACK_PATH, (context) => {
    const pending = cookies.takePending(context, clock.nowMs());
    // Not counted as a wrong try: any site can send somebody here.
    if (!pending) return show(context, signInPage(issuer, undefined, TOO_LATE), 401);
    return tryIn(context, pending.next, {
      readToken: () => issuer.finish(new URL(context.req.url).search, pending),
      explain: (refused) => messageOf(refused),
      // The session's strict cookie goes with requests alone that begin at a page of ours: this is one.
      lead: (path) => leadOn(context, path),
    });
  });
}

/** How a token comes, and how its owner goes on. */
interface TokenWay {
  readonly readToken: () => Promise<Result<string, SignInProblem>>;
  /** What to say about a token that the operator APIs refuse. */
  readonly explain: (refused: RefusedError) => string;
  readonly lead: (path: string) => Response | Promise<Response>;
}

/** Builds what signs an operator in by their token, wherever it is from. */
function createTries(deps: SignInDeps) {
  const { clock, counted, issuer } = deps;
  const failures = createFailures();
  return async (
    context: Context<Env>,
    next: string | undefined,
    { readToken, explain, lead }: TokenWay,
  ): Promise<Response> => {
    const again = (problem: string, status: 401 | 429 | 503) =>
      deps.show(context, signInPage(issuer, next, problem), status);
    const peerAddress = context.env?.incoming?.socket.remoteAddress;
    const forwardedFor = context.req.header('x-forwarded-for');
    const from = clientAddress({ ...deps.proxies, peerAddress, forwardedFor }) ?? 'unknown';
    if (!(await failures.mayTry(from))) {
      counted('slowed');
      return again('Too many wrong tokens: wait a minute and try again.', 429);
    }
    const token = await readToken();
    const found = token.ok ? await ownerOf(deps.openUpstream, token.value, explain) : token;
    if (!found.ok) {
      const { status, problem } = found.refusal;
      if (status === 503) await failures.forgive(from);
      counted(status === 503 ? 'unavailable' : 'refused');
      return again(problem, status);
    }
    await failures.forgive(from);
    const nowMs = clock.nowMs();
    const text = (count: number) => Buffer.from(deps.randomBytes(count)).toString('base64url');
    const common = { id: text(16), csrf: text(24), signedInAtMs: nowMs, usedAtMs: nowMs };
    const session: Session = { ...found.value, ...common };
    deps.cookies.setSession(context, session);
    counted('signed_in');
    deps.logger.info({ operator: session.name, from }, 'an operator signed in');
    return lead(ownPath(next));
  };
}

/** A token with its owner, or what is wrong with it. */
async function ownerOf(
  openUpstream: OpenUpstream,
  token: string,
  explain: (refused: RefusedError) => string,
): Promise<Result<CallerView & { readonly token: string }, SignInProblem>> {
  if (token === '' || /[^\x21-\x7e]/.test(token)) return refuse({ status: 401, problem: NO_TOKEN });
  if (token.length > TOKEN_LENGTH_MAX) {
    const problem = `This token is longer than the ${TOKEN_LENGTH_MAX} letters that a browser keeps: ask for one with fewer claims.`;
    return refuse({ status: 401, problem });
  }
  try {
    const owner = await identify(openUpstream(token));
    if (!owner.ok) return refuse({ status: 401, problem: explain(owner.refusal) });
    return accept({ ...owner.value, token });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return refuse({ status: 503, problem: `Nobody can sign in now: ${messageOf(error)}` });
  }
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

function signInPage(
  issuer: Issuer | undefined,
  next: string | undefined,
  problem?: string,
): { readonly title: string; readonly body: Html } {
  const back = ownPath(next);
  const elsewhere =
    issuer &&
    html`<p>${link(`${ISSUER_PATH}?next=${encodeURIComponent(back)}`, `Sign in with ${issuer.host}`)}, or by a token:</p>`;
  const body = html`<form method="post" action="/sign-in" class="form sign-in">${problemOf(problem)}${elsewhere}
<input type="hidden" name="next" value="${back}">
<div class="field"><label for="token">Your operator token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required${attributes({ autofocus: true, 'aria-invalid': problem === undefined ? undefined : 'true' })}>
<small>Who runs this hub gave it to you. It stays in this browser, sealed, until you sign out.</small></div>
<button type="submit" class="primary">Sign in</button></form>`;
  return { title: 'Sign in', body };
}
