import { operatorRoles } from '@pesewa/contracts';
import { decodeJwt } from 'jose';
import { z } from 'zod';
import { createSealer, type SealingDeps } from './sealing.ts';

/** A cookie may have 4,096 bytes; the rest of a session needs some too. */
export const TOKEN_LENGTH_MAX = 2_800;
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

/** Seals sessions into cookies, and opens them. */
export interface Sessions {
  readonly seal: (session: Session) => string;
  /** The session; undefined if the text is none of ours, or the session has ended. */
  readonly open: (sealed: string, nowMs: number) => Session | undefined;
  /** The session after a click at this time, if it must be sealed anew. */
  readonly touch: (session: Session, nowMs: number) => Session | undefined;
  /** When the session ends without another click, its token's own end at the latest. */
  readonly endsAtMs: (session: Session) => number;
  /** Ends a session for this process, though its cookie may have been copied. */
  readonly end: (session: Session) => void;
}

/** Builds {@link Sessions}; the first key seals, and all open. */
export function createSessions(
  options: SealingDeps & { readonly idleMs: number; readonly absoluteMs: number },
): Sessions {
  const sealer = createSealer(options, 'pesewa-console-session-1', sessionSchema);
  const ended = new Map<string, number>();
  const endsAtMs = ({ usedAtMs, signedInAtMs, token }: Session) =>
    Math.min(usedAtMs + options.idleMs, signedInAtMs + options.absoluteMs, tokenEndsAtMs(token));
  return {
    endsAtMs,
    seal: sealer.seal,
    open: (sealed, nowMs) => {
      const session = sealer.open(sealed);
      if (!session || ended.has(session.id) || nowMs >= endsAtMs(session)) return undefined;
      return session;
    },
    touch: (session, nowMs) =>
      nowMs - session.usedAtMs < Math.min(RESEAL_AFTER_MS, options.idleMs / 2)
        ? undefined
        : { ...session, usedAtMs: nowMs },
    end: ({ id, signedInAtMs }) => {
      for (const [other, endsMs] of ended) if (endsMs < signedInAtMs) ended.delete(other);
      ended.set(id, signedInAtMs + options.absoluteMs);
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
