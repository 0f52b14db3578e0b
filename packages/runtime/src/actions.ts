import { type Operation, wholeNumber } from '@pesewa/contracts';
import type { Context } from 'hono';

/** What an operator asks a service to do. */
export interface Action {
  readonly operator: string;
  /** Its method and path, such as `POST /breaks/{id}/assign`. */
  readonly operation: string;
  /** The ids, references and names of its path, its query and its body. */
  readonly objects: readonly string[];
}

/** Keeps what operators do. */
export interface ActionRecorder {
  /**
   * Keeps an action before it is done; the function that it gives notes the status of its answer, and never fails: the action is
   * done.
   */
  readonly begin: (action: Action) => Promise<(status: number) => Promise<void>>;
  /** Keeps an action that was refused before it began; never fails. */
  readonly refused: (action: Action, status: number) => Promise<void>;
}

const CONTEXT_KEY = 'pesewa.actionRecorder';

/** Makes the operations behind this request record what they do. */
export function setRecorder(context: Context, recorder: ActionRecorder): void {
  context.set(CONTEXT_KEY, recorder);
}

/** Fields that name what an action is about; others may hold secrets, or names of people. */
const naming = [
  'id',
  'name',
  'reference',
  'merchantId',
  'merchant',
  'scope',
  'rail',
  'commandId',
  'breakId',
  'endpoint',
  'topic',
  'operator',
  'approves',
  'owner',
  'keyHash',
  'sha256',
  'date',
] as const;
/** Fields whose values say nothing without their names. */
const labelled = ['partition', 'from', 'to'] as const;
const OBJECT_LENGTH_MAX = 120;
/** What is no name is not kept: of a request that was refused, a field may hold any text. */
const NAME = /^[^\s\p{C}]+$/u;

/** A request for an operation, as far as it could be read. */
export interface RequestedAction {
  readonly context: Context;
  readonly operation: Operation;
  readonly operator: string;
  /** Its parameters, its query and its body. */
  readonly given: readonly unknown[];
}

/**
 * Records what an operation does, unless it only looks: first that it begins, so that no action is done which is not kept,
 * then how it ended.
 */
export async function recorded<Answer extends { readonly status: number }>(
  requested: RequestedAction,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const recorder = recorderOf(requested);
  if (!recorder) return act();
  const noteStatus = await recorder.begin(actionOf(requested));
  const answer = await act();
  await noteStatus(answer.status);
  return answer;
}

/** Records a request that is refused before anything is done, unless it only looks. */
export async function recordedRefusal(requested: RequestedAction, refusal: Response): Promise<Response> {
  await recorderOf(requested)?.refused(actionOf(requested), refusal.status);
  return refusal;
}

function recorderOf({ context, operation, given }: RequestedAction): ActionRecorder | undefined {
  if (operation.method === 'get' || given.some(isDryRun)) return undefined;
  return context.get(CONTEXT_KEY) as ActionRecorder | undefined;
}

function actionOf({ operation: { method, path }, operator, given }: RequestedAction): Action {
  const objects = [...new Set(given.flatMap(objectsOf))];
  return { operator, operation: `${method.toUpperCase()} ${path}`, objects };
}

function isDryRun(part: unknown): boolean {
  const { dryRun } = (part ?? {}) as { readonly dryRun?: unknown };
  return dryRun === true || dryRun === '' || dryRun === 'true';
}

function objectsOf(part: unknown): readonly string[] {
  const fields = (part ?? {}) as Readonly<Record<string, unknown>>;
  const named = naming.flatMap((name) => nameOf(fields[name]));
  return [...named, ...labelled.flatMap((name) => nameOf(fields[name]).map((value) => `${name} ${value}`))];
}

function nameOf(value: unknown): readonly string[] {
  const text = value instanceof Date ? value.toISOString() : (wholeNumber.safeParse(value).data ?? value);
  const name = typeof text === 'number' ? String(text) : text;
  return typeof name === 'string' && NAME.test(name) ? [name.slice(0, OBJECT_LENGTH_MAX)] : [];
}
