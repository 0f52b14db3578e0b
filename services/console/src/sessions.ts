import { operatorRoles } from '@pesewa/contracts';
import type { Context } from 'hono';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { createSealedCookie, type SealingDeps } from './sealing.ts';

/** A cookie may have 4,096 bytes; the rest of a session needs some too. */
export const TOKEN_LENGTH_MAX = 2_700;
/** A session in use is sealed anew at most so often, and twice within its idle time at least. */
const RESEAL_AFTER_MS = 60_000;

const sessionSchema = z.object({
  id: z.string(),
  token: z.string(),
  name: z.string(),
  /** As the operator APIs told it at sign-in; they check it themselves at every request. */
  role: z.enum(operatorRoles),
  signedInAtMs: z.number(),
  usedAtMs: z.number(),
  /** Every form of this session carries it. */
  csrf: z.string(),
});

/** A signed-in operator, as their cookie holds it, sealed. */
export type Session = Readonly<z.output<typeof sessionSchema>>;

/** Keeps sessions in cookies. */
export type Sessions = ReturnType<typeof createSessions>;

/** Builds {@link Sessions}. */
export function createSessions(
  options: SealingDeps & { readonly idleMs: number; readonly absoluteMs: number },
) {
  const cookie = createSealedCookie(options, 'pesewa-session', sessionSchema);
  const ended = new Map<string, number>();
  /** When a session ends without another click, its token's own end at the latest. */
  const endsAtMs = ({ usedAtMs, signedInAtMs, token }: Session) =>
    Math.min(usedAtMs + options.idleMs, signedInAtMs + options.absoluteMs, tokenEndsAtMs(token));
  return {
    endsAtMs,
    begin: cookie.write,
    /** The session of a request; undefined if it has none, or it has ended. */
    read: async (context: Context, nowMs: number) => {
      const session = await cookie.read(context);
      return session && !ended.has(session.id) && nowMs < endsAtMs(session) ? session : undefined;
    },
    /** The session after a click at this time. */
    touch: async (context: Context, session: Session, nowMs: number): Promise<Session> => {
      if (nowMs - session.usedAtMs < Math.min(RESEAL_AFTER_MS, options.idleMs / 2)) return session;
      const used = { ...session, usedAtMs: nowMs };
      await cookie.write(context, used);
      return used;
    },
    /** Ends a session for this process too, as its cookie may have been copied. */
    end: (context: Context, session: Session | undefined) => {
      cookie.clear(context);
      if (!session) return;
      for (const [other, endsMs] of ended) if (endsMs < session.signedInAtMs) ended.delete(other);
      ended.set(session.id, session.signedInAtMs + options.absoluteMs);
    },
  };
}

/** When an issuer's token expires; never for a token of another kind. */
function tokenEndsAtMs(token: string): number {
  try {
    return (decodeJwt(token).exp ?? Infinity) * 1_000;
  } catch {
    // No JWT: it has no end of its own.
    return Infinity;
  }
}
