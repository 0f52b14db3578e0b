import { z } from 'zod';
import { declareOperations } from './operation.ts';
import { operatorRoles } from './roles.ts';

const callerView = z.object({ name: z.string(), role: z.enum(operatorRoles) });

/** Who calls, and what they may do. */
export type CallerView = z.output<typeof callerView>;

/** What every service tells a caller about themselves. */
export const callerOperations = declareOperations({
  show: {
    method: 'get',
    path: '/operator',
    summary: 'Shows who calls, and the role',
    answers: { 200: callerView },
  },
});
