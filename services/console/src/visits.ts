import type { Readable } from 'node:stream';
import type { CallerView, OperatorRole } from '@pesewa/contracts';
import { ClientError, messageOf, RefusedError } from '@pesewa/operator-client';
import { html } from 'hono/html';
import type { Upstream } from './upstream.ts';
import { type Content, type Html, nothing } from './view/html.ts';
import type { Page } from './view/layout.ts';
import { readTime, type TimeView } from './view/values.ts';

/** One look at a page by a signed-in operator. */
export interface Visit {
  readonly upstream: Upstream;
  readonly operator: CallerView;
  /** Whether the operator's role is at least this one; the operator APIs decide, this only shows or hides. */
  readonly may: (role: OperatorRole) => boolean;
  readonly times: TimeView;
  /** For every form. */
  readonly csrf: string;
  /** The path of the address, without its query. */
  readonly path: string;
  /** A parameter of the address; absent if it is empty. */
  readonly query: (name: string) => string | undefined;
  /** A part of the path. */
  readonly part: (name: string) => string;
  /** A new id for what a form will do once, however often it is sent. */
  readonly newId: () => string;
}

/** A form that an operator sent. */
export interface Submission extends Visit {
  /** A field without blanks around it; absent if it is empty. */
  readonly field: (name: string) => string | undefined;
}

/** What becomes of a form: another page is shown instead, or this one with what was found (200) or what was wrong. */
export type Outcome = { readonly goTo: string } | { readonly again: Page; readonly status: 200 | 409 | 422 };
/** A file that an operator sends, as it arrives. */
export interface Upload extends Visit {
  readonly content: Readable;
  readonly sizeBytes: number;
}

/** What becomes of a file: another page is shown instead, or this in its place on the page. */
export type UploadOutcome =
  | { readonly goTo: string }
  | { readonly shown: Content; readonly status: 200 | 422 };

/** What a page's address answers: the page, or another address where it is. */
export type Shown = Page | { readonly goTo: string };

/** Adds pages and what their forms do, by their paths. */
export interface Routes {
  readonly page: (path: string, show: (visit: Visit) => Shown | Promise<Shown>) => void;
  readonly form: (path: string, take: (submission: Submission) => Promise<Outcome>) => void;
  /** A file for the browser to save, passed on as fast as it takes it. */
  readonly download: (path: string, give: (visit: Visit) => Promise<Response>) => void;
  /** A file that the script of a form with `data-upload` sends as a request's body; nothing of it is kept here. */
  readonly upload: (path: string, take: (upload: Upload) => Promise<UploadOutcome>) => void;
}

/** Whether a token is no longer any operator's: then no page is shown at all. */
export const isForbidden = (error: ClientError): boolean =>
  error instanceof RefusedError && error.code === 'forbidden';

/** What a service gave, or else what the page says in its place. */
export async function orProblem<Value>(
  work: Promise<Value>,
): Promise<readonly [Value] | readonly [given: undefined, problem: Html]> {
  try {
    return [await work];
  } catch (error) {
    if (!(error instanceof ClientError) || isForbidden(error)) throw error;
    const isRefused = error instanceof RefusedError;
    const problem = html`<p class="problem" role="alert">${isRefused ? nothing : 'Not available: '}${messageOf(error)}</p>`;
    return [undefined, problem];
  }
}

/** A part of a page that a service may fail to give: then it says so, and the rest of the page stands. */
export async function part(work: Promise<Content>): Promise<Html> {
  const [given = nothing, problem = given] = await orProblem(work.then((content) => html`${content}`));
  return problem;
}

/** What several services give, each by itself: where one gives no answer, a line says so in place of what it knows, once however often it is asked. */
export async function fromEach<Service, Value>(
  services: readonly Service[],
  read: (service: Service) => Promise<Value>,
): Promise<{ readonly found: readonly Value[]; readonly problems: readonly Html[] }> {
  const all = await Promise.all(services.map((service) => orProblem(read(service))));
  const problems = await Promise.all(
    all.flatMap(([, problem]) => (problem ? [Promise.resolve(problem)] : [])),
  );
  return {
    found: all.flatMap(([given, problem]) => (problem === undefined ? [given as Value] : [])),
    problems: [...new Map(problems.map((problem) => [String(problem), problem])).values()],
  };
}

/** Does what a form asks for, and gives where to go, or what was made; if it is refused, the form is shown again with the reason, and nothing has happened. */
export async function doOrShowAgain(
  work: () => Promise<string | Page>,
  again: (problem: string) => Page | Promise<Page>,
): Promise<Outcome> {
  try {
    const done = await work();
    return typeof done === 'string' ? { goTo: done } : { again: done, status: 200 };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { again: await again(messageOf(error)), status: error.status === 409 ? 409 : 422 };
  }
}

/** A value by its name: a parameter of the address, or a field of the form. */
export type Given = (name: string) => string | undefined;

/** A value that must be one of some. */
export function choiceOf<Choice extends string>(
  given: Given,
  name: string,
  choices: readonly Choice[],
): Choice {
  const chosen = choices.find((one) => one === given(name));
  if (chosen !== undefined) return chosen;
  throw new RefusedError(`${name}: must be one of ${choices.join(', ')}`, 422);
}

/** A time that was written in the zone of the pages, in UTC; undefined if nothing was. A day is its beginning, or its end. */
export function momentOf(
  { times }: Visit,
  given: Given,
  name: string,
  of?: 'begin' | 'end',
): string | undefined {
  const text = given(name);
  const at = text && readTime(text, times.zone, of);
  if (at === undefined && text !== undefined)
    throw new RefusedError(`${name}: ${text} is no time: write 27/11/2026 or 27/11/2026 14:05:09`, 422);
  return at;
}

/** The value of what may be missing: undefined if there is none. */
export async function orMissing<Value>(asking: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return undefined;
    throw error;
  }
}

/** What takes a role; somebody without it reads which one it takes. */
export function only({ may }: Visit, role: OperatorRole, what: () => Content): Html {
  return may(role) ? html`${what()}` : html`<p class="empty">To change this takes the role ${role}.</p>`;
}
