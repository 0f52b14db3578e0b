import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import { type JsonOf, type PayoutCode, payoutCodes } from '@pesewa/contracts';
import { retryAfter } from '@pesewa/merchant-api';
import { answerJson } from '@pesewa/runtime';
import type { Context } from 'hono';
import { z } from 'zod';

/** The part of a request's context that answers need. */
type AnswerContext = Pick<Context, 'newResponse'>;

/** The name of a responseCode that refuses. */
type RefusalCode = Exclude<PayoutCode, 'answered' | 'accepted'>;

/** Refuses in the envelope of contract 2.1, with the status of the code (contract 10.1). */
export function answerRefused(context: AnswerContext, name: RefusalCode, message: string): Response {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, { isSuccessful: false, responseCode: code, responseMessage: message });
}

/** Refuses a request that exceeds a rate, and says when to retry (contract 10.17). */
export function answerTooMany(
  context: Pick<Context, 'newResponse' | 'header'>,
  message: string,
  waitSeconds: number,
): Response {
  context.header('retry-after', String(waitSeconds));
  return answerRefused(context, 'tooManyRequests', `${message}: try again after ${waitSeconds} s`);
}

/** The schema of a success's data; null if it has none. */
type DataSchema = z.ZodType | null;

type DataOf<Schema extends DataSchema> = Schema extends z.ZodType ? JsonOf<Schema> : null;

/** The documentation of one operation, by which its route is registered and its answers are typed too. */
export interface OperationText<Path extends string, Schema extends DataSchema, Refusal extends RefusalCode> {
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
    readonly message: string;
    readonly data: Schema;
    readonly example: DataOf<NoInfer<Schema>>;
    /** An example of the same as CSV, if it can be asked for; the cursor of the next page is then in a header. */
    readonly csv?: string;
  };
  /** Its refusals, in addition to those of every operation. */
  readonly refusals: readonly Refusal[];
}

const commonRefusals = [
  'unauthenticated',
  'notPermitted',
  'tooManyRequests',
  'unavailable',
  'broken',
] as const satisfies readonly RefusalCode[];

const csvHeaders = {
  'x-next-cursor': {
    description: 'of CSV: the `cursor` of the next page; absent on the last',
    schema: { type: 'string' as const },
  },
};

/** Builds an operation: its route, and its answers as documented. Routes read the body by its schema, numbers by their text. */
export function defineOperation<
  const Path extends string,
  Schema extends DataSchema,
  const Refusal extends RefusalCode,
>(text: OperationText<Path, Schema, Refusal>) {
  const { code, message, data: schema, description, example, csv } = text.success;
  const bodyOf = (data: DataOf<Schema>, responseMessage: string) => ({
    isSuccessful: true,
    ...(code !== null && { responseCode: payoutCodes[code].code }),
    responseMessage,
    ...(data !== null && { responseData: data }),
  });
  const documented = z.strictObject({
    isSuccessful: z.literal(true),
    ...(code !== null && { responseCode: z.literal(payoutCodes[code].code) }),
    responseMessage: z.string(),
    ...(schema !== null && { responseData: schema }),
  });
  const route = createRoute({
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
        description,
        content: {
          'application/json': { schema: documented, example: bodyOf(example, message) },
          ...(csv !== undefined && { 'text/csv': { schema: z.string(), example: csv } }),
        },
        ...(csv !== undefined && { headers: csvHeaders }),
      },
      ...refusalsOf([...new Set([...text.refusals, ...commonRefusals])]),
    },
  });
  return {
    route,
    /** Answers its success, with the documented message unless another one fits better. */
    succeed: (context: AnswerContext, data: DataOf<Schema>, responseMessage = message): Response =>
      answerJson(context, 200, bodyOf(data, responseMessage)),
    /** Answers one of its refusals. */
    refuse: (
      context: AnswerContext,
      name: Refusal | (typeof commonRefusals)[number],
      responseMessage: string,
    ): Response => answerRefused(context, name, responseMessage),
  };
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
        responseMessage: first === undefined ? '' : payoutCodes[first].meaning,
      };
      return [
        status,
        {
          description: group
            .map((name) => `\`${payoutCodes[name].code}\` ${payoutCodes[name].meaning}`)
            .join('; '),
          content: { 'application/json': { schema: refusalSchema(codes), example } },
          ...(group.includes('tooManyRequests') && { headers: retryAfter }),
        },
      ];
    }),
  );
}
