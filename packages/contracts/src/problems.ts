import type { z } from 'zod';

/** A field of a request that can't be accepted, and what would be. */
export interface FieldProblem {
  /** The field's path in the body, such as `beneficiary.amount`; empty for the body itself. */
  readonly path: string;
  readonly message: string;
}

/** The first problem of a refused body, as the merchant reads it. */
export function firstProblem(error: z.ZodError): FieldProblem {
  const [issue] = error.issues;
  if (!issue) return { path: '', message: 'is malformed' };
  return { path: issue.path.map(String).join('.'), message: issue.message };
}

/** A problem as one sentence: `beneficiary.amount must be a number`. */
export function describeProblem(problem: FieldProblem): string {
  return problem.path === '' ? problem.message : `${problem.path} ${problem.message}`;
}
