import type { z } from 'zod';

/** A field of a request that is invalid, and what would be valid. */
export interface FieldProblem {
  /** The field's path in the body, such as `beneficiary.amount`; empty for the body itself. */
  readonly path: string;
  readonly message: string;
}

/** The first problem of a refused body, as shown to the merchant. */
export function firstProblem(error: z.ZodError): FieldProblem {
  const [issue] = error.issues;
  if (!issue) return { path: '', message: 'is malformed' };
  return { path: issue.path.map(String).join('.'), message: issue.message };
}

/** A problem as one sentence: `beneficiary.amount must be a number`. */
export function describeProblem(problem: FieldProblem): string {
  return problem.path === '' ? problem.message : `${problem.path} ${problem.message}`;
}
