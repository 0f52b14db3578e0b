import type { Session } from './sessions.ts';

/** What requests of the console carry from step to step. */
export interface Env {
  /** Absent if the app is called without a server. */
  readonly Bindings: {
    readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } };
  };
  readonly Variables: {
    /** The nonce of this answer's scripts. */
    secureHeadersNonce?: string;
    session?: Session;
    /** The fields of a form that was sent by one of our pages. */
    fields: Readonly<Record<string, string>>;
  };
}
