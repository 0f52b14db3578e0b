import { type Operation, type Operations, type ParameterOf, roleFor } from '@pesewa/contracts';
import type { Context, Hono } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import type { z } from 'zod';
import { recorded, recordedRefusal } from './actions.ts';
import { answerJson } from './http.ts';
import { operatorRefusal, readOperatorRequest } from './operator-requests.ts';
import { callerOf, lackingRole } from './operators.ts';

/** A request that was read by the schemas of its operation. */
export interface ServedRequest<One extends Operation> {
  readonly parameters: Readonly<Record<ParameterOf<One['path']>, string>>;
  readonly query: One extends { readonly query: infer Query } ? z.output<Query> : undefined;
  readonly body: One extends { readonly body: infer Body } ? z.output<Body> : undefined;
  /** The name of the operator who calls. */
  readonly operator: string;
  readonly context: Context;
}

/** What may be answered to an operation: a body of one of its statuses, or one of its refusals. */
export type ServedAnswer<One extends Operation> =
  | {
      readonly [Status in keyof One['answers']]: {
        readonly status: Status;
        readonly body: z.input<One['answers'][Status]>;
      };
    }[keyof One['answers']]
  | (One extends { readonly dryRun: infer DryRun }
      ? { readonly status: 200; readonly body: z.input<DryRun> }
      : never)
  | (One extends { readonly refusals: infer Refusals }
      ? { readonly refusal: keyof Refusals; readonly message: string }
      : never);

/** What a service does for each operation of an API. */
export type OperationHandlers<Api extends Operations> = {
  readonly [Name in keyof Api]: (
    request: ServedRequest<Api[Name]>,
  ) => ServedAnswer<Api[Name]> | Promise<ServedAnswer<Api[Name]>>;
};

/** An answer with a status of the operation. */
export const answer = <const Status extends number, Body>(status: Status, body: Body) =>
  ({ status, body }) as Answered<Status, Body>;

/** One answer for each status that it may have. */
type Answered<Status, Body> = Status extends number
  ? { readonly status: Status; readonly body: Body }
  : never;

/** A refusal with a code of the operation. */
export const refused = <const Code extends string>(refusal: Code, message: string) => ({ refusal, message });

/** The refusal of a cursor that no page of the list has given. */
export const foreignCursor = refused('invalid', 'cursor must be the next of an earlier page');

/** Builds a function from refusals of the domain to those of an operator API: a code of the operation, and a message. */
export const refusalsAs =
  <const Texts extends Readonly<Record<string, readonly [code: string, message: string]>>>(texts: Texts) =>
  (refusal: keyof Texts & string) => {
    const [code, message] = texts[refusal] as Texts[keyof Texts];
    return refused<Texts[keyof Texts][0]>(code, message);
  };

/**
 * Mounts operations as they are declared (ADR 60): the caller must have the role; a query or a body that can't be read is
 * answered with 400 `invalid`.
 */
export function serveOperations<Api extends Operations>(
  operator: Hono,
  api: Api,
  handlers: OperationHandlers<Api>,
): void {
  for (const [name, operation] of Object.entries(api)) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
    // The types of an operation and of its handler belong together by the operation's name.
    const handle = handlers[name] as unknown as AnyHandler;
    operator.on(operation.method, path, (context) => serve(context, operation, handle));
  }
}

type AnyHandler = (
  request: object,
) => Promise<
  { readonly status: number; readonly body: unknown } | { readonly refusal: string; readonly message: string }
>;

async function serve(context: Context, operation: Operation, handle: AnyHandler): Promise<Response> {
  const caller = callerOf(context);
  const parameters = context.req.param();
  const { raw, read } = await readOperatorRequest(context, operation);
  const { query, body } = read.ok ? read.value : raw;
  const requested = { context, operation, operator: caller.name, given: [parameters, query, body] };
  const lacking = lackingRole(caller, roleFor(operation, raw.body));
  if (lacking) return recordedRefusal(requested, answerJson(context, 403, lacking));
  if (!read.ok) return recordedRefusal(requested, read.refusal);
  return recorded(requested, async () => {
    const answered = await handle({ parameters, query, body, operator: caller.name, context });
    return answerOf(context, operation, answered);
  });
}

function answerOf(
  context: Context,
  operation: Operation,
  answered: Awaited<ReturnType<AnyHandler>>,
): Response {
  if ('refusal' in answered) {
    const { refusal, message } = answered;
    return operatorRefusal(context, operation.refusals?.[refusal] as StatusCode, refusal, message);
  }
  if (answered.body instanceof Response) return answered.body;
  return answerJson(context, answered.status as StatusCode, answered.body);
}
