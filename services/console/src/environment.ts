import type { TrustedProxies } from '@pesewa/addresses';
import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Issuer } from './issuer.ts';
import type { Sandbox } from './sandbox.ts';
import type { Session, Sessions } from './sessions.ts';
import type { OpenUpstream } from './upstream.ts';
import type { Page } from './view/layout.ts';

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

/** What the console needs. */
export interface ConsoleDeps {
  readonly sessions: Sessions;
  /** Where operators may sign in too; absent if there is none. */
  readonly issuer?: Issuer | undefined;
  readonly openUpstream: OpenUpstream;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly proxies: TrustedProxies;
  readonly counted: (result: 'signed_in' | 'refused' | 'slowed' | 'unavailable') => void;
  /** The origin by which browsers reach us. */
  readonly ownOrigin: string;
  readonly isProduction: boolean;
  readonly zone: string;
  readonly newId: () => string;
  /** Absent in production. */
  readonly sandbox?: Sandbox | undefined;
}

/** The statuses of pages. */
export type Status = 200 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503;

/** Answers with a page. */
export type Show = (context: Context<Env>, page: Page, status: Status) => Promise<Response>;
