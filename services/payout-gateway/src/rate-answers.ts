import type { Context } from 'hono';
import { type AppEnv, answer } from './answers.ts';

/** Refuses what exceeds a rate, and says when to come again (design 9). */
export function tooMany(context: Context<AppEnv>, message: string, waitSeconds: number): Response {
  context.header('retry-after', String(waitSeconds));
  return answer(context, 'tooManyRequests', `${message}: try again after ${waitSeconds} s`);
}
