import { z } from 'zod';
import { seenLine } from '../text.ts';
import { OPERATOR_LENGTH_MAX, type OperatorRole } from './roles.ts';

/**
 * An object whose unknown fields are refused: a mistyped field must not be ignored.
 *
 * @param describeUnknown what is wrong with fields of these names
 */
export function strictFields<Shape extends z.ZodRawShape>(
  shape: Shape,
  describeUnknown: (names: readonly string[]) => string,
  otherwise = 'the body must be a JSON object',
): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? describeUnknown(issue.keys) : otherwise),
  });
}

/** One operation of an operator API (ADR 60): what a service serves, what its clients send and read, and its document. */
export interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** The path, with its parameters as `{name}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /**
   * Only another operator may call it than proposed what it decides (ADR 17): always, or if the body's `approves` names who
   * proposed it.
   */
  readonly caller?: 'second' | 'secondIfApproves';
  /** The least role that may call it, where that does not follow from the method and the caller. */
  readonly role?: OperatorRole;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Whether the request's body is a file, which the service reads as it arrives. */
  readonly takesFile?: true;
  /** The bodies of its answers, by status. */
  readonly answers: Readonly<Record<number, z.ZodType>>;
  /** The body of the answer, 200, to a request that only asks what would happen, by its `dryRun`. */
  readonly dryRun?: z.ZodType;
  /** The status of each code with which it refuses, besides those that every operation has. */
  readonly refusals?: Readonly<Record<string, number>>;
  /** The parameter of a list that takes the `next` of the page before. */
  readonly pages?: 'cursor' | 'after';
  /** How long it may take if that is longer than usual. */
  readonly timeoutMs?: number;
}

/** The least role that may call an operation, with this body if it has one. */
export function roleFor(
  { method, caller, role }: Pick<Operation, 'method' | 'caller' | 'role'>,
  body?: unknown,
): OperatorRole {
  if (role !== undefined) return role;
  if (method === 'get') return 'viewer';
  const isApproval = caller === 'secondIfApproves' && (body as Approval | undefined)?.approves !== undefined;
  return caller === 'second' || isApproval ? 'approver' : 'operator';
}

interface Approval {
  readonly approves?: unknown;
}

/** The longest reason that an operator gives. */
export const REASON_LENGTH_MAX = 200;

/** Why an operator does something. */
export const reasonLine = seenLine(REASON_LENGTH_MAX).describe(
  `why, in one line of at most ${REASON_LENGTH_MAX} characters, without names or numbers of people`,
);

/** The field `approves` of a body: the operator whose proposal this carries out. */
export const approvesField = seenLine(OPERATOR_LENGTH_MAX).optional();

/** The operations of one part of an operator API, by their names. */
export type Operations = Readonly<Record<string, Operation>>;

/** Declares operations; each keeps its own type. */
export const declareOperations = <const Declared extends Operations>(operations: Declared): Declared =>
  operations;

/** A refusal of any operation (ADR 60): the code is for programs and stays, the message is for people. */
export const refusalBody = z.object({ code: z.string(), message: z.string() }).meta({ id: 'Refusal' });

/** The answer of an operation that streams a file. */
export const fileAnswer = z.custom<Response>((value) => value instanceof Response);

/** The header of a file's answer that says how many records the file has, where the service knows that without a count. */
export const TOTAL_ROWS_HEADER = 'x-total-rows';

/** The names of a path's parameters. */
export type ParameterOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;

type Optionally<Name extends string, Value> =
  Partial<Record<never, never>> extends Value
    ? { readonly [Key in Name]?: Value }
    : { readonly [Key in Name]: Value };

/** What a client gives to call an operation. */
export type CallOf<One extends Operation> = ([ParameterOf<One['path']>] extends [never]
  ? object
  : { readonly parameters: Readonly<Record<ParameterOf<One['path']>, string>> }) &
  (One extends { readonly query: infer Query } ? Optionally<'query', z.input<Query>> : object) &
  (One extends { readonly body: infer Body } ? Optionally<'body', z.input<Body>> : object);

/** What a client gets: the body of any of the operation's answers. */
export type AnswerOf<One extends Operation> = z.output<One['answers'][keyof One['answers']]>;

/** An operation as it answers to a dry run. */
export const dryRunOf = <One extends Operation & Required<Pick<Operation, 'dryRun'>>>(operation: One) =>
  ({ ...operation, answers: { 200: operation.dryRun } }) as Omit<One, 'answers'> & {
    readonly answers: { readonly 200: One['dryRun'] };
  };

/** A request as it goes over the wire. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with its query. */
  readonly path: string;
  /** Sent as JSON; absent if the operation takes none. */
  readonly body?: unknown;
}

const methods = { get: 'GET', post: 'POST', put: 'PUT', delete: 'DELETE' } as const;

/** The request that calls an operation. */
export function requestOf<One extends Operation>(operation: One, call: CallOf<One>): OperationRequest {
  const {
    parameters = {},
    query = {},
    body,
  } = call as {
    readonly parameters?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
    readonly body?: unknown;
  };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  const method = methods[operation.method];
  return {
    method,
    path: asked.size === 0 ? path : `${path}?${asked.toString()}`,
    ...(method === 'POST' && operation.takesFile !== true && { body: body ?? {} }),
    ...(method === 'PUT' && { body }),
  };
}

/** The body of an answer; undefined if it is not one that the operation gives. */
export function readAnswer<One extends Operation>(
  operation: One,
  answer: { readonly status: number; readonly body: unknown },
): AnswerOf<One> | undefined {
  const parsed = operation.answers[answer.status]?.safeParse(answer.body);
  return parsed?.success ? (parsed.data as AnswerOf<One>) : undefined;
}
