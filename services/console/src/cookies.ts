import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import { PENDING_SECONDS, type PendingSignIn, pendingSignInSchema } from './issuer.ts';
import { createSealer, type SealingDeps } from './sealing.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Theme } from './view/layout.ts';

/** The cookies of the console. */
export interface Cookies {
  readonly session: (context: Context, nowMs: number) => Session | undefined;
  readonly setSession: (context: Context, session: Session) => void;
  readonly clearSession: (context: Context) => void;
  readonly setPending: (context: Context, pending: PendingSignIn) => void;
  /** The sign-in that is under way at the issuer, which ends by this; undefined if there is none, or it took too long. */
  readonly takePending: (context: Context, nowMs: number) => PendingSignIn | undefined;
  readonly theme: (context: Context) => Theme;
  readonly setTheme: (context: Context, theme: Theme) => void;
}

const THEME_SECONDS = 365 * 86_400;

/** Builds {@link Cookies}; in production they go over TLS alone and belong to this host alone. */
export function createCookies(sessions: Sessions, sealing: SealingDeps, isProduction: boolean): Cookies {
  const name = 'pesewa-session';
  const pendingName = 'pesewa-pending';
  const pendings = createSealer(sealing, 'pesewa-console-pending-1', pendingSignInSchema);
  const common = {
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    secure: isProduction,
  } satisfies CookieOptions;
  const own: CookieOptions = isProduction ? { ...common, prefix: 'host' } : common;
  const storedAs = (given: string) => (isProduction ? `__Host-${given}` : given);
  const stored = storedAs(name);
  return {
    session: (context, nowMs) => {
      const sealed = getCookie(context, stored);
      return sealed === undefined ? undefined : sessions.open(sealed, nowMs);
    },
    // Without an age it ends with the browser.
    setSession: (context, session) => setCookie(context, name, sessions.seal(session), own),
    clearSession: (context) => void deleteCookie(context, stored, common),
    // The way back from the issuer comes from another site, which a strict cookie does not follow.
    setPending: (context, pending) =>
      setCookie(context, pendingName, pendings.seal(pending), {
        ...own,
        sameSite: 'Lax',
        maxAge: PENDING_SECONDS,
      }),
    takePending: (context, nowMs) => {
      const pending = pendings.open(getCookie(context, storedAs(pendingName)) ?? '');
      deleteCookie(context, storedAs(pendingName), common);
      return pending && nowMs < pending.endsAtMs ? pending : undefined;
    },
    theme: (context) => readTheme(getCookie(context, 'theme')),
    setTheme: (context, theme) => setCookie(context, 'theme', theme, { ...common, maxAge: THEME_SECONDS }),
  };
}

/** One of the themes; that of the system for anything else. */
export function readTheme(text: string | undefined): Theme {
  return text === 'light' || text === 'dark' ? text : 'system';
}
