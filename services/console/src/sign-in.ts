import { clientAddress } from '@pesewa/addresses';
import type { CallerView } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { ClientError, messageOf, type RefusedError } from '@pesewa/operator-client';
import type { Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { ConsoleDeps, Env, Show } from './environment.ts';
import { CALLBACK_PATH, type Issuer, type SignInProblem } from './issuer.ts';
import { cookieOptions } from './sealing.ts';
import { TOKEN_LENGTH_MAX } from './sessions.ts';
import { identify, type OpenUpstream } from './upstream.ts';
import { problemOf } from './view/form.ts';
import { attributes, link } from './view/html.ts';
import { leadOn, type Page, type Theme } from './view/layout.ts';

const FAILURES_MAX = 5;
const FAILURES_SECONDS = 60;
const ISSUER_PATH = '/sign-in/issuer';
const NO_TOKEN = 'This is no operator token.';
const TOO_LATE = 'This sign-in took too long, or began in another browser: begin again.';
/** The path that was wanted shares a cookie with what else a sign-in needs. */
const NEXT_LENGTH_MAX = 1_000;
const THEME_SECONDS = 365 * 86_400;

/** Adds sign-in, sign-out and the choice of colours. */
export function addSignIn(app: Hono<Env>, deps: ConsoleDeps, show: Show): void {
  const { sessions, issuer } = deps;
  const tryIn = createTries(deps, show);
  app.get('/sign-in', (context) => show(context, signInPage(issuer, context.req.query('next')), 200));
  app.post('/sign-in', (context) => {
    const { token = '', next } = context.get('fields');
    return tryIn(context, next, {
      readToken: async () => accept(token.trim()),
      explain: () => NO_TOKEN,
      lead: (path) => context.redirect(path, 303),
    });
  });
  if (issuer) addIssuer(app, deps, issuer, { show, tryIn });
  app.post('/sign-out', (context) => {
    const session = context.get('session');
    sessions.end(context, session);
    if (session) deps.logger.info({ operator: session.name }, 'an operator signed out');
    context.header('Clear-Site-Data', '"cache"');
    return context.redirect('/sign-in', 303);
  });
  app.post('/theme', (context) => {
    const { theme = '', back } = context.get('fields');
    setCookie(context, 'theme', theme, { ...cookieOptions(deps.isProduction), maxAge: THEME_SECONDS });
    return context.redirect(ownPath(back), 303);
  });
}

/** The colours that were chosen; those of the system for anything else. */
export function themeOf(context: Context): Theme {
  const theme = getCookie(context, 'theme');
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** Adds the way to the issuer and back. */
function addIssuer(
  app: Hono<Env>,
  { clock, counted }: ConsoleDeps,
  issuer: Issuer,
  { show, tryIn }: { readonly show: Show; readonly tryIn: ReturnType<typeof createTries> },
): void {
  app.get(ISSUER_PATH, async (context) => {
    const next = ownPath(context.req.query('next'));
    const begun = await issuer.begin(next.length > NEXT_LENGTH_MAX ? '/' : next);
    if (!begun.ok) {
      counted('unavailable');
      return show(context, signInPage(issuer, next, begun.refusal.problem), begun.refusal.status);
    }
    await issuer.pending.write(context, begun.value.pending);
    return context.redirect(begun.value.page.href, 303);
  });
  app.get(CALLBACK_PATH, async (context) => {
    const pending = await issuer.pending.read(context);
    issuer.pending.clear(context);
    // Not counted as a wrong try: any site can send somebody here.
    if (!pending || clock.nowMs() >= pending.endsAtMs)
      return show(context, signInPage(issuer, undefined, TOO_LATE), 401);
    return tryIn(context, pending.next, {
      readToken: () => issuer.finish(new URL(context.req.url).search, pending),
      explain: messageOf,
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

/**
 * Builds what signs an operator in by their token, wherever it is from. Who tries wrong ones is slowed, per address; there
 * is no limit on all of them together: it would only let strangers keep our people out, because nobody guesses a token.
 */
function createTries(deps: ConsoleDeps, show: Show) {
  const { clock, counted, issuer } = deps;
  const failures = new RateLimiterMemory({ points: FAILURES_MAX, duration: FAILURES_SECONDS });
  return async (
    context: Context<Env>,
    next: string | undefined,
    { readToken, explain, lead }: TokenWay,
  ): Promise<Response> => {
    const again = (problem: string, status: 401 | 429 | 503) =>
      show(context, signInPage(issuer, next, problem), status);
    const peerAddress = context.env?.incoming?.socket.remoteAddress;
    const forwardedFor = context.req.header('x-forwarded-for');
    const from = clientAddress({ ...deps.proxies, peerAddress, forwardedFor }) ?? 'unknown';
    // Counted before its outcome is known: those that are under way at once are as many as in turn.
    if (await failures.consume(from).then(() => false, isLimit)) {
      counted('slowed');
      return again('Too many wrong tokens: wait a minute and try again.', 429);
    }
    const token = await readToken();
    const found = token.ok ? await ownerOf(deps.openUpstream, token.value, explain) : token;
    // A try that was no wrong token is taken back.
    if (found.ok || found.refusal.status === 503) await failures.reward(from);
    if (!found.ok) {
      const { status, problem } = found.refusal;
      counted(status === 503 ? 'unavailable' : 'refused');
      return again(problem, status);
    }
    const nowMs = clock.nowMs();
    const text = (count: number) => Buffer.from(deps.randomBytes(count)).toString('base64url');
    const common = { id: text(16), csrf: text(24), signedInAtMs: nowMs, usedAtMs: nowMs };
    await deps.sessions.begin(context, { ...found.value, ...common });
    counted('signed_in');
    deps.logger.info({ operator: found.value.name, from }, 'an operator signed in');
    return lead(ownPath(next));
  };
}

/** Whether it is too many tries that a limiter rejects; anything else is breakage. */
function isLimit(rejected: unknown): true {
  if (rejected instanceof RateLimiterRes) return true;
  throw rejected;
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

/** A path of the console, or its first page: a sign-in leads nowhere else. */
function ownPath(path: string | undefined): string {
  return path !== undefined && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/';
}

function signInPage(issuer: Issuer | undefined, next: string | undefined, problem?: string): Page {
  const back = ownPath(next);
  const elsewhere =
    issuer &&
    html`<p>${link(`${ISSUER_PATH}?next=${encodeURIComponent(back)}`, `Sign in with ${issuer.host}`)}, or by a token:</p>`;
  const body = html`<form method="post" action="/sign-in" class="form">${problemOf(problem)}${elsewhere}
<input type="hidden" name="next" value="${back}">
<div class="field"><label for="token">Your operator token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required${attributes({ autofocus: true, 'aria-invalid': problem === undefined ? undefined : 'true' })}>
<small>Who runs this hub gave it to you. It stays in this browser, sealed, until you sign out.</small></div>
<button type="submit" class="primary">Sign in</button></form>`;
  return { title: 'Sign in', body };
}
