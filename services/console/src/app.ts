import { createHash } from 'node:crypto';
import { includesRole } from '@pesewa/contracts';
import { ClientError, messageOf, RefusedError } from '@pesewa/operator-client';
import { instrumentRequests, type Logger, logFailure } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { html } from 'hono/html';
import { NONCE, secureHeaders } from 'hono/secure-headers';
import { timingSafeEqual } from 'hono/utils/buffer';
import { assets } from './assets.ts';
import type { ConsoleDeps, Env, Show, Status } from './environment.ts';
import { createFileRoutes, FILE_HEADER, isFile } from './file-routes.ts';
import { addPages } from './pages.ts';
import type { Session } from './sessions.ts';
import { addSignIn, themeOf } from './sign-in.ts';
import { type Content, link } from './view/html.ts';
import { type Frame, layout, leadOn, mainOf, type Page, SIGN_IN_HEADER } from './view/layout.ts';
import type { Outcome, Routes, Visit } from './visits.ts';

type Here = Context<Env>;

const FORM_BYTES_MAX = 65_536;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** Builds the console: every page is behind a sign-in, and every change comes from one of our own forms. */
export function createApp(deps: ConsoleDeps): Hono<Env> {
  const app = new Hono<Env>();
  const show: Show = async (context, given, status) => {
    // What answers a form has no address by which it could show itself anew.
    const page = context.req.method === 'GET' ? given : { title: given.title, body: given.body };
    context.header('Vary', 'HX-Request');
    context.header('Cache-Control', 'no-store');
    // What moved and no longer does is loaded once more, as a page that stays.
    if (isPart(context) && status === 200 && page.everySeconds === undefined)
      context.header('HX-Refresh', 'true');
    return context.html(isPart(context) ? mainOf(page) : layout(page, frameOf(context, deps)), status);
  };
  app.onError((error, context) => show(context, failed(deps.logger, error, context), statusOf(error)));
  app.notFound((context) => show(context, missing('There is no such page.'), 404));
  app.use(instrumentRequests);
  app.use(security(deps));
  for (const asset of Object.values(assets)) {
    const headers = { 'content-type': asset.type, 'cache-control': FOR_EVER };
    app.get(asset.path, (context) => context.body(asset.bytes, 200, headers));
  }
  const tooLarge = (context: Context) => context.text('the form is too large', 413);
  const limitForm = bodyLimit({ maxSize: FORM_BYTES_MAX, onError: tooLarge });
  app.use((context, next) => (isFile(context.req) ? next() : limitForm(context, next)));
  app.use(requireOwnForm(deps));
  addSignIn(app, deps, show);
  app.use(requireSession(deps, show));
  addPages(createRoutes(app, deps, show), deps);
  return app;
}

/** Whether a page loads a part of itself, which is no sign of a person. */
const isPart = ({ req }: Here) => req.header('hx-request') === 'true';

/** Nothing but our own files runs on a page, and no other site may frame it. */
function security({ isProduction }: ConsoleDeps) {
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
    strictTransportSecurity: isProduction ? 'max-age=31536000; includeSubDomains' : false,
  });
}

/** Reads forms; one that does not come from our own page of the same sign-in is refused. */
function requireOwnForm({ ownOrigin, sessions, clock }: ConsoleDeps) {
  return async (context: Here, next: () => Promise<void>) => {
    const session = await sessions.read(context, clock.nowMs());
    if (session) context.set('session', session);
    const { method } = context.req;
    if (method === 'GET' || method === 'HEAD') return next();
    // Browsers say by Sec-Fetch-Site, which pages can't forge, where a form is from; older ones by Origin.
    const site = context.req.header('sec-fetch-site');
    const isOwn = site === undefined ? context.req.header('origin') === ownOrigin : site === 'same-origin';
    if (method !== 'POST' || !isOwn) return context.text('this form is not one of ours', 403);
    const fields = await readFields(context);
    context.set('fields', fields);
    const isSignedIn = session !== undefined && context.req.path !== '/sign-in';
    if (isSignedIn && !(await timingSafeEqual(fields['csrf'] ?? '', session.csrf)))
      return context.text('this form is of another sign-in: load the page again', 403);
    return next();
  };
}

async function readFields({ req }: Here): Promise<Readonly<Record<string, string>>> {
  if (isFile(req)) return { csrf: req.header(FILE_HEADER) ?? '' };
  const texts = Object.entries(await req.parseBody()).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Leads who is not signed in to the sign-in, and back to where they wanted to go. */
function requireSession({ clock, sessions }: ConsoleDeps, show: Show) {
  return async (context: Here, next: () => Promise<void>) => {
    const session = context.get('session');
    if (!session) return signInFirst(context, show);
    if (!isPart(context)) context.set('session', await sessions.touch(context, session, clock.nowMs()));
    else if (context.req.method === 'GET' && context.req.header(SIGN_IN_HEADER) !== markOf(session)) {
      // Somebody else has signed in beside this page, which still shows the one before.
      context.header('HX-Refresh', 'true');
      return context.body(null, 200);
    }
    return next();
  };
}

function signInFirst(context: Here, show: Show): Response | Promise<Response> {
  const { pathname, search } = new URL(context.req.url);
  const isGet = context.req.method === 'GET';
  const address = `/sign-in?next=${encodeURIComponent(isGet ? `${pathname}${search}` : '/')}`;
  if (isPart(context)) {
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

function frameOf(context: Here, { sessions, zone, sandbox }: ConsoleDeps): Frame {
  const session: Session | undefined = context.get('session');
  const signInOf = ({ name, role, csrf }: Session) => ({ name, role, csrf });
  const { method, url } = context.req;
  const referrer = context.req.header('referer') ?? '';
  const at = method !== 'GET' && URL.canParse(referrer) ? referrer : url;
  const { pathname, search } = new URL(at);
  return {
    nonce: context.get('secureHeadersNonce') ?? '',
    theme: themeOf(context),
    path: `${pathname}${search}`,
    zone,
    hasSandbox: sandbox !== undefined,
    ...(session && {
      signIn: {
        ...signInOf(session),
        mark: markOf(session),
        endsAt: new Date(sessions.endsAtMs(session)).toISOString(),
      },
    }),
  };
}

/** Adds pages to the app: each gets a visit, and a form's outcome becomes an answer. */
function createRoutes(app: Hono<Env>, deps: ConsoleDeps, show: Show): Routes {
  const visitOf = (context: Here): Visit => {
    const session = context.get('session');
    if (!session) throw new TypeError('a page without a sign-in');
    const { name, role, csrf, token } = session;
    return {
      upstream: deps.openUpstream(token),
      operator: { name, role },
      may: (needed) => includesRole(role, needed),
      times: { zone: deps.zone, nowMs: deps.clock.nowMs() },
      csrf,
      path: context.req.path,
      query: (of) => filled(context.req.query(of)),
      part: (of) => context.req.param(of) ?? '',
      newId: deps.newId,
    };
  };
  const answer = (context: Here, outcome: Outcome) =>
    'goTo' in outcome ? context.redirect(outcome.goTo, 303) : show(context, outcome.again, outcome.status);
  return {
    page: (path, render) => {
      app.get(path, async (context) => {
        const shown = await render(visitOf(context));
        return answer(context, 'goTo' in shown ? shown : { again: shown, status: 200 });
      });
    },
    form: (path, take) => {
      app.post(path, async (context) => {
        const fields = context.get('fields');
        return answer(context, await take({ ...visitOf(context), field: (name) => filled(fields[name]) }));
      });
    },
    ...createFileRoutes(app, visitOf, deps.clock),
  };
}

const filled = (text: string | undefined): string | undefined => text?.trim() || undefined;

function statusOf(error: Error): Status {
  if (!(error instanceof RefusedError)) return error instanceof ClientError ? 503 : 500;
  return ([403, 404, 409] as const).find((status) => status === error.status) ?? 422;
}

/** The page for what did not work; breakage is logged, and told without its details. */
function failed(logger: Logger, error: Error, context: Context): Page {
  const problem = (title: string, why: string): Page => ({
    title,
    body: html`<p class="problem" role="alert">${why}</p>`,
  });
  if (!(error instanceof ClientError)) {
    logFailure(logger, { error, context, text: 'a page failed' });
    return problem('This broke', 'The log has why.');
  }
  if (!(error instanceof RefusedError)) return problem('Not available', messageOf(error));
  if (error.status === 404) return missing(messageOf(error));
  if (error.code !== 'forbidden') return problem('Not done', messageOf(error));
  return problem('Not allowed', 'Your token is no longer valid: sign out, and sign in with another one.');
}

function missing(why: Content): Page {
  return { title: 'Not found', body: html`<p>${why}</p><p>${link('/', 'Go to Today')}</p>` };
}
