import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { type Logger, secret } from '@pesewa/runtime';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { createSealedCookie, type SealingDeps } from './sealing.ts';

/** The settings by which operators may sign in at the issuer of `OPERATORS_ISSUER`. */
export const clientSettings = {
  OIDC_CLIENT_ID: z
    .string()
    .optional()
    .describe("the console's name at `OPERATORS_ISSUER`, for sign-in there"),
  OIDC_CLIENT_SECRET: z.string().optional().describe('its secret there').meta(secret),
  OIDC_SCOPES: z
    .string()
    .default('openid profile')
    .describe('scopes that give an access token for `OPERATORS_AUDIENCE`'),
};

type ClientConfig = z.output<z.ZodObject<typeof clientSettings>> & {
  readonly OPERATORS_ISSUER?: string | undefined;
};

const pendingSignInSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  /** The secret of PKCE (RFC 7636). */
  verifier: z.string(),
  /** The page that was wanted. */
  next: z.string(),
  endsAtMs: z.number(),
});

/** What a sign-in at the issuer must come back with; its cookie holds it meanwhile, sealed. */
type PendingSignIn = Readonly<z.output<typeof pendingSignInSchema>>;

/** How long somebody may be at the issuer's pages. */
const PENDING_SECONDS = 600;

/** Where a sign-in comes back to. */
export const CALLBACK_PATH = '/sign-in/callback';

/** Why nobody is signed in, in a sentence. */
export interface SignInProblem {
  readonly status: 401 | 503;
  readonly problem: string;
}

/** The OpenID Connect issuer at which operators may sign in. */
export type Issuer = NonNullable<ReturnType<typeof createIssuer>>;

/** What the issuer needs. */
interface IssuerDeps {
  /** The origin by which browsers reach us. */
  readonly ownOrigin: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly sealing: SealingDeps;
  readonly logger: Pick<Logger, 'warn'>;
}

const TIMEOUT_SECONDS = 5;

/**
 * Builds an {@link Issuer}, by the authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0); undefined if
 * none is configured.
 */
export function createIssuer(config: ClientConfig, deps: IssuerDeps) {
  const { OPERATORS_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const address = new URL(issuer);
  const callback = `${deps.ownOrigin}${CALLBACK_PATH}`;
  // The setting allows http on this machine alone.
  const execute = address.protocol === 'http:' ? [oidc.allowInsecureRequests] : [];
  const authentication = oidc.ClientSecretBasic(clientSecret);
  let found: Promise<oidc.Configuration> | undefined;
  const discover = () => {
    found ??= oidc
      .discovery(address, clientId, {}, authentication, { execute, timeout: TIMEOUT_SECONDS })
      .catch((error: unknown) => {
        found = undefined;
        throw error;
      });
    return found;
  };
  const attempt = async <Value>(work: () => Promise<Value>): Promise<Result<Value, SignInProblem>> => {
    try {
      return accept(await work());
    } catch (error) {
      return refuse(problemOf(error, address.host, deps.logger));
    }
  };
  return {
    host: address.host,
    // The way back from the issuer comes from another site, which a strict cookie does not follow.
    pending: createSealedCookie(deps.sealing, 'pesewa-pending', pendingSignInSchema, {
      sameSite: 'Lax',
      maxAge: PENDING_SECONDS,
    }),
    /** A new sign-in, and the issuer's page where it goes on. */
    begin: (next: string) =>
      attempt(async () => {
        const pending = {
          state: oidc.randomState(),
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
          next,
          endsAtMs: deps.clock.nowMs() + PENDING_SECONDS * 1_000,
        };
        const page = oidc.buildAuthorizationUrl(await discover(), {
          redirect_uri: callback,
          scope: config.OIDC_SCOPES,
          state: pending.state,
          nonce: pending.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
          code_challenge_method: 'S256',
        });
        return { pending, page };
      }),
    /** The access token for the query with which the issuer sends somebody back. */
    finish: (query: string, { state, nonce, verifier }: PendingSignIn) =>
      attempt(async () => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
        const answered = new URL(`${callback}${query}`);
        return (await oidc.authorizationCodeGrant(await discover(), answered, checks)).access_token;
      }),
  };
}

/** The codes of answers that are not for the sign-in that was begun: of another state, nonce, issuer or time. */
const FOREIGN = [
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
];

/** What a failure means for who signs in. Errors are not logged whole: they have tokens and codes in them. */
function problemOf(error: unknown, host: string, logger: Pick<Logger, 'warn'>): SignInProblem {
  const { code } = error as { readonly code?: unknown };
  const said = (error as { readonly error?: unknown }).error;
  const reason = typeof said === 'string' && /^[a-z_]{1,40}$/.test(said) ? said : undefined;
  if (error instanceof oidc.AuthorizationResponseError)
    return { status: 401, problem: `${host} refused it${reason === undefined ? '' : `: ${reason}`}.` };
  const isForeign = typeof code === 'string' && FOREIGN.includes(code);
  if (isForeign || reason === 'invalid_grant')
    return { status: 401, problem: `What ${host} answered does not belong to this sign-in: begin again.` };
  const { name, message } = error instanceof Error ? error : new Error('no error');
  logger.warn({ host, name, code, reason, why: message }, 'the issuer can’t sign anybody in');
  return { status: 503, problem: `Nobody can sign in at ${host} now: try again, or use an operator token.` };
}
