import type { Operation } from '@pesewa/contracts';
import type { Context } from 'hono';

/** What an operator asks a service to do. */
export interface Action {
  readonly operator: string;
  /** Its method and path, such as `POST /breaks/{id}/assign`. */
  readonly operation: string;
  /** The ids, references and names of its path and its body. */
  readonly objects: readonly string[];
}

/** Keeps an action before it is done; the function that it gives notes the status of its answer. */
export type RecordAction = (action: Action) => Promise<(status: number) => Promise<void>>;

const CONTEXT_KEY = 'pesewa.recordAction';

/** Makes the operations behind this request record what they do. */
export function setRecorder(context: Context, record: RecordAction): void {
  context.set(CONTEXT_KEY, record);
}

/** Fields of bodies that name what an action is about; others may hold secrets, or names of people. */
const naming = [
  'id',
  'name',
  'reference',
  'merchantId',
  'merchant',
  'rail',
  'commandId',
  'endpoint',
  'topic',
  'owner',
  'keyHash',
  'date',
] as const;
const OBJECT_LENGTH_MAX = 120;

/**
 * Records what an operation does, unless it only looks: first that it begins, so that no action is done which is not kept,
 * then how it ended.
 */
export async function recorded<Answer extends { readonly status: number }>(
  {
    context,
    operation,
    operator,
    given,
  }: {
    readonly context: Context;
    readonly operation: Operation;
    readonly operator: string;
    readonly given: readonly unknown[];
  },
  act: () => Promise<Answer>,
): Promise<Answer> {
  const record = context.get(CONTEXT_KEY) as RecordAction | undefined;
  if (!record || operation.method === 'get' || given.some(isDryRun)) return act();
  const { method, path } = operation;
  const objects = [...new Set(given.flatMap(objectsOf))];
  const noteStatus = await record({ operator, operation: `${method.toUpperCase()} ${path}`, objects });
  const answer = await act();
  await noteStatus(answer.status);
  return answer;
}

function isDryRun(part: unknown): boolean {
  const { dryRun } = (part ?? {}) as { readonly dryRun?: unknown };
  return dryRun === true || dryRun === '' || dryRun === 'true';
}

function objectsOf(part: unknown): readonly string[] {
  const fields = (part ?? {}) as Readonly<Record<string, unknown>>;
  return naming.flatMap((name) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? [value.slice(0, OBJECT_LENGTH_MAX)] : [];
  });
}
