import { createHash } from 'node:crypto';
import type { TrustedProxies } from '@pesewa/addresses';
import type { Clock } from '@pesewa/kernel';
import { ClientError, messageOf, RefusedError } from '@pesewa/operator-client';
import { instrumentRequests, type Logger, logFailure } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { NONCE, secureHeaders } from 'hono/secure-headers';
import { assets } from './assets.ts';
import type { Cookies } from './cookies.ts';
import type { Env } from './environment.ts';
import { createFileRoutes, FILE_HEADER, isFile } from './file-routes.ts';
import { addPages } from './pages.ts';
import { isOwnOrigin, isSameSecret } from './request-origin.ts';
import type { Sandbox } from './sandbox.ts';
import type { Session, Sessions } from './sessions.ts';
import { addSignIn, type SignInDeps } from './sign-in.ts';
import type { OpenUpstream } from './upstream.ts';
import { type Content, link } from './view/html.ts';
import { type Frame, layout, leadOn, mainOf, type Page, SIGN_IN_HEADER } from './view/layout.ts';
import { mayOf, type Outcome, type Routes, type Submission, type Visit } from './visits.ts';

/** What the console's pages need. */
export interface AppDeps extends Pick<SignInDeps, 'randomBytes' | 'counted' | 'issuer'> {
  readonly sessions: Sessions;
  readonly cookies: Cookies;
  readonly openUpstream: OpenUpstream;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly proxies: TrustedProxies;
  /** The origin by which browsers reach us. */
  readonly ownOrigin: string;
  readonly isTls: boolean;
  readonly zone: string;
  readonly newId: () => string;
  /** Absent in production. */
  readonly sandbox?: Sandbox | undefined;
}

type Here = Context<Env>;

const FORM_BYTES_MAX = 65_536;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Builds the console: every page is behind a sign-in, and every change comes from one of our own forms. */
export function createApp(deps: AppDeps): Hono<Env> {
  const app = new Hono<Env>();
  const frameOf = createFrames(deps);
  const show = async (context: Here, given: Page, status: Status): Promise<Response> => {
    const frame = frameOf(context);
    // What answers a form has no address by which it could show itself anew.
    const page = context.req.method === 'GET' ? given : { title: given.title, body: given.body };
    const isPart = context.req.header('hx-request') === 'true';
    context.header('Vary', 'HX-Request');
    context.header('Cache-Control', 'no-store');
    // What moved and no longer does is loaded once more, as a page that stays.
    if (isPart && status === 200 && page.everySeconds === undefined) context.header('HX-Refresh', 'true');
    return context.html(isPart ? mainOf(page) : layout(page, frame), status);
  };
  app.onError((error, context) => show(context, failed(deps.logger, error, context), statusOf(error)));
  app.notFound((context) => show(context, missing('There is no such page.'), 404));
  app.use(instrumentRequests);
  app.use(security(deps.isTls));
  for (const asset of Object.values(assets)) {
    const headers = { 'content-type': asset.type, 'cache-control': FOR_EVER };
    app.get(asset.path, (context) => context.body(asset.bytes, 200, headers));
  }
  const tooLarge = (context: Context) => context.text('the form is too large', 413);
  const limitForm = bodyLimit({ maxSize: FORM_BYTES_MAX, onError: tooLarge });
  app.use((context, next) => (isFile(context.req) ? next() : limitForm(context, next)));
  app.use(requireOwnForm(deps));
  addSignIn(app, { ...deps, show });
  app.use(requireSession(deps, show));
  addPages(createRoutes(app, deps, show), deps);
  return app;
}

type Status = 200 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503;

/** Nothing but our own files runs on a page, and no other site may frame it. */
function security(isTls: boolean) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'", NONCE],
      styleSrc: ["'self'"],
      imgSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
      requireTrustedTypesFor: ["'script'"],
      trustedTypes: ['htmx'],
    },
    xFrameOptions: 'DENY',
    // Without any referrer browsers send `Origin: null` with forms.
    referrerPolicy: 'same-origin',
    strictTransportSecurity: isTls ? 'max-age=31536000; includeSubDomains' : false,
  });
}

/** Reads forms; one that does not come from our own page of the same sign-in is refused. */
function requireOwnForm({ ownOrigin, cookies, clock }: AppDeps) {
  return async (context: Here, next: () => Promise<void>) => {
    const session = cookies.session(context, clock.nowMs());
    if (session) context.set('session', session);
    const { method } = context.req;
    if (method === 'GET' || method === 'HEAD') return next();
    const site = context.req.header('sec-fetch-site');
    const isOwn = isOwnOrigin({ site, origin: context.req.header('origin') }, ownOrigin);
    if (method !== 'POST' || !isOwn) return context.text('this form is not one of ours', 403);
    const read = await readFields(context);
    context.set('fields', read);
    const isSignedIn = session !== undefined && context.req.path !== '/sign-in';
    if (isSignedIn && !isSameSecret(read['csrf'] ?? '', session.csrf))
      return context.text('this form is of another sign-in: load the page again', 403);
    return next();
  };
}

async function readFields({ req }: Here): Promise<Readonly<Record<string, string>>> {
  if (isFile(req)) return { csrf: req.header(FILE_HEADER) ?? '' };
  const texts = Object.entries(await req.parseBody()).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Leads who is not signed in to the sign-in, and back to where they wanted to go. */
function requireSession({ cookies, clock, sessions }: AppDeps, show: Show) {
  return async (context: Here, next: () => Promise<void>) => {
    const session = context.get('session');
    const isPart = context.req.header('hx-request') === 'true';
    if (!session) return signInFirst(context, isPart, show);
    if (isPart && context.req.method === 'GET' && context.req.header(SIGN_IN_HEADER) !== markOf(session)) {
      // Somebody else has signed in beside this page, which still shows the one before.
      context.header('HX-Refresh', 'true');
      return context.body(null, 200);
    }
    // What a page loads by itself is no sign of a person.
    const renewed = isPart ? undefined : sessions.touch(session, clock.nowMs());
    if (renewed) {
      context.set('session', renewed);
      cookies.setSession(context, renewed);
    }
    return next();
  };
}

type Show = (context: Here, page: Page, status: Status) => Promise<Response>;

function signInFirst(context: Here, isPart: boolean, show: Show): Response | Promise<Response> {
  const { pathname, search } = new URL(context.req.url);
  const isGet = context.req.method === 'GET';
  const address = `/sign-in?next=${encodeURIComponent(isGet ? `${pathname}${search}` : '/')}`;
  if (isPart) {
    context.header('HX-Redirect', address);
    return context.body(null, 401);
  }
  // A link in a mail comes without our strict cookie: the second try, which is our own, brings it.
  if (isGet && context.req.header('sec-fetch-site') === 'cross-site') return leadOn(context);
  if (isGet) return context.redirect(address, 303);
  const body = html`<p>Your sign-in has ended, and nothing was done. ${link('/sign-in', 'Sign in')}, then try again.</p>`;
  return show(context, { title: 'Signed out', body }, 401);
}

const markOf = ({ csrf }: Session) => createHash('sha256').update(csrf).digest('hex').slice(0, 16);

function createFrames({ cookies, sessions, zone, sandbox }: AppDeps) {
  return (context: Here): Frame => {
    const session: Session | undefined = context.get('session');
    const { method, url } = context.req;
    const referrer = context.req.header('referer') ?? '';
    const at = method !== 'GET' && URL.canParse(referrer) ? referrer : url;
    const { pathname, search } = new URL(at);
    return {
      nonce: context.get('secureHeadersNonce') ?? '',
      theme: cookies.theme(context),
      path: `${pathname}${search}`,
      zone,
      hasSandbox: sandbox !== undefined,
      ...(session && {
        operator: { name: session.name, role: session.role },
        csrf: session.csrf,
        signInMark: markOf(session),
        endsAt: new Date(sessions.endsAtMs(session)).toISOString(),
      }),
    };
  };
}

/** Adds pages to the app: each gets a visit, and a form's outcome becomes an answer. */
function createRoutes(app: Hono<Env>, deps: AppDeps, show: Show): Routes {
  const visitOf = (context: Here): Visit => {
    const session = context.get('session');
    if (!session) throw new TypeError('a page without a sign-in');
    const operator = { name: session.name, role: session.role };
    return {
      upstream: deps.openUpstream(session.token),
      operator,
      may: mayOf(operator),
      times: { zone: deps.zone, nowMs: deps.clock.nowMs() },
      csrf: session.csrf,
      path: context.req.path,
      query: (name) => filled(context.req.query(name)),
      part: (name) => context.req.param(name) ?? '',
      newId: deps.newId,
    };
  };
  const answer = (context: Here, outcome: Outcome) =>
    'goTo' in outcome ? context.redirect(outcome.goTo, 303) : show(context, outcome.again, outcome.status);
  return {
    page: (path, render) => {
      app.get(path, async (context) => {
        const shown = await render(visitOf(context));
        return 'goTo' in shown ? context.redirect(shown.goTo, 303) : show(context, shown, 200);
      });
    },
    form: (path, take) => {
      app.post(path, async (context) => {
        const fields = context.get('fields');
        const submission: Submission = { ...visitOf(context), field: (name) => filled(fields[name]) };
        return answer(context, await take(submission));
      });
    },
    ...createFileRoutes(app, visitOf, deps.clock),
  };
}

function filled(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

function statusOf(error: Error): Status {
  if (error instanceof RefusedError) {
    const known = [403, 404, 409, 422] as const;
    return known.find((status) => status === error.status) ?? 422;
  }
  return error instanceof ClientError ? 503 : 500;
}

/** The page for what did not work; breakage is logged, and told without its details. */
function failed(logger: Logger, error: Error, context: Context): Page {
  if (error instanceof RefusedError && error.status === 404) return missing(messageOf(error));
  if (error instanceof RefusedError && error.code === 'forbidden') {
    const body = html`<p>Your token is no longer valid: sign out, and sign in with another one.</p>`;
    return { title: 'Not allowed', body };
  }
  if (error instanceof RefusedError)
    return { title: 'Not done', body: html`<p class="problem" role="alert">${messageOf(error)}</p>` };
  if (error instanceof ClientError)
    return { title: 'Not available', body: html`<p class="problem" role="alert">${messageOf(error)}</p>` };
  logFailure(logger, { error, context, text: 'a page failed' });
  return { title: 'This broke', body: html`<p class="problem" role="alert">The log has why.</p>` };
}

function missing(why: Content): Page {
  return { title: 'Not found', body: html`<p>${why}</p><p>${link('/', 'Go to Today')}</p>` };
}
