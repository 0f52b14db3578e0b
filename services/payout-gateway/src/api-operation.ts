import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import { type PayoutCode, payoutCodes } from '@pesewa/contracts';
import { z } from 'zod';

/** The documentation of one operation, by which its route is registered too. */
export interface OperationText<Path extends string> {
  readonly method: 'get' | 'post';
  /** With its variables in braces. */
  readonly path: Path;
  readonly operationId: string;
  readonly tag: 'Payouts' | 'Inquiries';
  readonly summary: string;
  readonly description: string;
  readonly request?: RouteConfig['request'];
  readonly success: {
    /** Null for the only success without a responseCode (contract 4.6). */
    readonly code: 'answered' | 'accepted' | null;
    readonly description: string;
    readonly data?: z.ZodType;
    readonly example: unknown;
  };
  /** Its refusals, in addition to those of every operation. */
  readonly refusals: readonly PayoutCode[];
}

/** The meaning of each code (contract 10.1). */
const meanings: Readonly<Record<PayoutCode, string>> = {
  answered: 'answered',
  accepted: 'accepted',
  notFound: 'not found',
  malformed: 'a field is missing, malformed or of a wrong type: the message names it by its path',
  invalidAmount: 'a number that is no acceptable amount',
  unauthenticated: 'the key is missing or wrong',
  notPermitted: 'the merchant is suspended',
  duplicate: 'the reference was used before, with other content, or too long ago to compare',
  archived: 'the payout has ended, so long ago that its details are no longer kept',
  insufficientFunds: 'the wallet has not enough',
  overLimit: 'over a limit of the merchant',
  noRoute: 'no route, or a processor that is unknown, inactive or blocked',
  tooManyRequests: 'too many requests: Retry-After says when to come again',
  unavailable: 'not possible at present: send the same request again',
  broken: 'something broke on our side',
};

const everywhere: readonly PayoutCode[] = [
  'unauthenticated',
  'notPermitted',
  'tooManyRequests',
  'unavailable',
  'broken',
];

/** Builds an operation. Our own code reads its requests (numbers by their text); the schemas only document them. */
export function defineOperation<const Path extends string>(text: OperationText<Path>) {
  return createRoute({
    method: text.method,
    path: text.path,
    operationId: text.operationId,
    tags: [text.tag],
    summary: text.summary,
    description: text.description,
    security: [{ publicKey: [] }],
    ...(text.request && { request: text.request }),
    responses: {
      200: {
        description: text.success.description,
        content: {
          'application/json': { schema: successSchema(text.success), example: text.success.example },
        },
      },
      ...refusalsOf([...new Set([...text.refusals, ...everywhere])]),
    },
  });
}

function successSchema({ code, data }: OperationText<string>['success']): z.ZodType {
  return z.strictObject({
    isSuccessful: z.literal(true),
    ...(code !== null && { responseCode: z.literal(payoutCodes[code].code) }),
    responseMessage: z.string(),
    ...(data && { responseData: data }),
  });
}

/** The envelope of a refusal with one of the codes (contract 2.1). */
export function refusalSchema(codes: readonly string[]) {
  return z.strictObject({
    isSuccessful: z.literal(false),
    responseCode: z.enum(codes),
    responseMessage: z.string(),
  });
}

function refusalsOf(names: readonly PayoutCode[]): RouteConfig['responses'] {
  const byStatus = Map.groupBy(names, (name) => payoutCodes[name].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => {
      const codes = group.map((name) => payoutCodes[name].code);
      const [first] = group;
      const example = {
        isSuccessful: false,
        responseCode: codes[0],
        responseMessage: first === undefined ? '' : meanings[first],
      };
      return [
        status,
        {
          description: group.map((name) => `\`${payoutCodes[name].code}\` ${meanings[name]}`).join('; '),
          content: { 'application/json': { schema: refusalSchema(codes), example } },
          ...(group.includes('tooManyRequests') && { headers: retryAfter }),
        },
      ];
    }),
  );
}

const retryAfter = {
  'Retry-After': { description: 'whole seconds to wait', schema: { type: 'integer' as const, minimum: 1 } },
};
