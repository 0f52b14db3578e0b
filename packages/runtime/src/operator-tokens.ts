import { type CallerView, OPERATOR_LENGTH_MAX, operatorRoles } from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { createIssuerKeys, IssuerSilentError, isSafeAddress } from './issuer-keys.ts';
import type { Logger } from './logger.ts';

/** Why a token gives no operator: what is answered. */
export interface TokenRefusal {
  readonly status: 403 | 503;
  readonly code: 'forbidden' | 'unavailable';
  readonly message: string;
}

/** Whose token it is. */
export type IdentifyToken = (token: string) => Promise<Result<CallerView, TokenRefusal>>;

/** Signatures that whoever verifies them can't make. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 60;

/** The settings by which operators may be people of an OpenID Connect issuer. */
export const issuerSettings = {
  OPERATORS_ISSUER: z
    .string()
    .refine(isSafeAddress, { error: 'must be an https:// address' })
    .optional()
    .describe('OpenID Connect issuer whose access tokens (JWT) operators may use'),
  OPERATORS_AUDIENCE: z.string().optional().describe('the audience of these tokens'),
  OPERATORS_NAME_CLAIM: z
    .string()
    .default('preferred_username')
    .describe('their claim with a name that nobody can change for themselves'),
  OPERATORS_ROLES_CLAIM: z
    .string()
    .default('roles')
    .describe('their claim with a list of roles, `pesewa:viewer` to `pesewa:admin`'),
};

type IssuerConfig = z.output<z.ZodObject<typeof issuerSettings>>;

const NAME = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._@+-]{1,${OPERATOR_LENGTH_MAX - 1}}$`);

/** The name of an operator whom the issuer calls so; undefined if it can't be one. Capitals make no other person. */
export const readOperatorName = (claim: unknown): string | undefined =>
  typeof claim === 'string' && NAME.test(claim) ? claim.toLowerCase() : undefined;

/** What is answered to a token that gives no operator. */
export const refuseToken = (message: string) => refuse({ status: 403, code: 'forbidden', message } as const);

/** Verifies access tokens of the issuer; undefined if none is configured. */
export function createTokenVerifier(
  config: IssuerConfig,
  deps: {
    readonly clock: Pick<Clock, 'nowMs'>;
    readonly monotonicMs: () => number;
    readonly logger: Pick<Logger, 'warn'>;
  },
): IdentifyToken | undefined {
  const { OPERATORS_ISSUER: issuer, OPERATORS_AUDIENCE: audience } = config;
  // Without an audience tokens for anybody else would be ours too.
  if (issuer === undefined || audience === undefined) return undefined;
  const keys = createIssuerKeys(issuer, deps.monotonicMs, deps.logger);
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(deps.clock.nowMs()),
        requiredClaims: ['exp'],
      });
      return callerOf(payload, config);
    } catch (error) {
      if (error instanceof IssuerSilentError) {
        const message = `${new URL(issuer).host} does not answer, so that nobody's token can be verified: try again`;
        return refuse({ status: 503, code: 'unavailable', message });
      }
      if (error instanceof errors.JOSEError) return refuseToken(explain(error));
      throw error;
    }
  };
}

function explain(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "the operator's token has expired: sign in again";
  if (error instanceof errors.JWTClaimValidationFailed)
    return `the operator token is wrong: its claim ${error.claim}`;
  return 'the operator token is wrong';
}

function callerOf(payload: JWTPayload, config: IssuerConfig): Result<CallerView, TokenRefusal> {
  const { OPERATORS_NAME_CLAIM: nameClaim, OPERATORS_ROLES_CLAIM: rolesClaim } = config;
  const name = readOperatorName(payload[nameClaim]);
  if (name === undefined)
    return refuseToken(`the token's claim ${nameClaim} must be a name of letters, digits and . _ @ + -`);
  const given = payload[rolesClaim];
  const role = Array.isArray(given) && operatorRoles.findLast((one) => given.includes(`pesewa:${one}`));
  if (!role)
    return refuseToken(`the token's claim ${rolesClaim} gives ${name} no role, such as pesewa:viewer`);
  return accept({ name, role });
}
