import { z } from 'zod';
import { instant, pageCursor, pageLimit, pageOf, textUpTo } from './lists.ts';
import { declareOperations } from './operation.ts';

const NAME_LENGTH_MAX = 120;

const actionView = z
  .object({
    id: z.string(),
    at: z.string(),
    operator: z.string(),
    /** Its method and path, such as `POST /breaks/{id}/assign`. */
    operation: z.string(),
    /** What it was about: ids, references and names of its path, its query and its body. */
    objects: z.array(z.string()).readonly(),
    /** The HTTP status of its answer; null if the process ended before it, so that it may have taken effect. */
    status: z.number().nullable(),
  })
  .meta({ id: 'Action' });

/** What an operator did at a service, in lists; times in UTC. */
export type ActionView = z.output<typeof actionView>;

/** The actions of operators, which every service keeps. */
export const actionOperations = declareOperations({
  list: {
    method: 'get',
    path: '/actions',
    summary: 'Lists what operators did, refused actions too, the newest first',
    query: z.object({
      operator: textUpTo(NAME_LENGTH_MAX).optional().describe('only what this operator did'),
      object: textUpTo(NAME_LENGTH_MAX).optional().describe('only what was about this id, reference or name'),
      from: instant.optional().describe('only what was done at this time or later'),
      to: instant.optional().describe('only what was done before this time'),
      cursor: pageCursor.optional(),
      limit: pageLimit(200, 50),
    }),
    answers: { 200: pageOf(actionView) },
    pages: 'cursor',
  },
});
