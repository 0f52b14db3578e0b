import { z } from 'zod';
import { seenLine } from '../text.ts';
import { instant, pageOf } from './lists.ts';
import { approvesField, declareOperations, reasonLine, strictFields } from './operation.ts';

const NAME_LENGTH_MAX = 64;

/** What can be paused at a gateway: everything, one rail, or one merchant. */
export const pauseScopes = ['all', 'rail', 'merchant'] as const;

/** A pause of a gateway; times in UTC. */
export const pauseView = z
  .object({
    scope: z.enum(pauseScopes),
    /** Of the rail or the merchant. */
    name: z.string().nullable(),
    reason: z.string(),
    pausedBy: z.string(),
    pausedAt: z.string(),
    /** Who would resume it, which another operator must approve. */
    resumeProposedBy: z.string().nullable(),
  })
  .meta({ id: 'Pause' });

/** One of {@link pauseView}. */
export type PauseView = z.output<typeof pauseView>;

const subject = {
  scope: z.enum(pauseScopes, { error: `must be one of ${pauseScopes.join(', ')}` }),
  name: seenLine(NAME_LENGTH_MAX).optional(),
};

const body = <Shape extends z.ZodRawShape>(shape: Shape) =>
  strictFields(
    { ...subject, ...shape },
    (names) => `${names.join(', ')} is no field of this request: your token says who you are`,
  );

/** What a gateway passes on to no rail until two operators resume it (ADR 77). */
export const pauseOperations = declareOperations({
  list: {
    method: 'get',
    path: '/pauses',
    summary: 'Lists what is paused',
    answers: { 200: pageOf(pauseView) },
  },
  pause: {
    method: 'post',
    path: '/pauses',
    summary: 'Pauses everything, a rail or a merchant at once, on all replicas',
    body: body({ reason: reasonLine }),
    answers: { 200: pauseView },
    refusals: { invalid: 400, not_found: 404 },
  },
  resume: {
    method: 'post',
    path: '/pauses/resume',
    summary: 'Proposes to resume (202); with `approves`, resumes as that operator proposed (200)',
    caller: 'secondIfApproves',
    /** `pausedAt` names the pause that was seen: one that was set anew meanwhile stays. */
    body: body({ approves: approvesField, pausedAt: instant }),
    answers: { 200: z.object({ resumed: z.literal(true) }), 202: pauseView },
    refusals: {
      invalid: 400,
      same_operator: 403,
      not_found: 404,
      changed: 409,
      proposed_already: 409,
      not_proposed: 409,
    },
  },
});
