import type { Context } from 'hono';
import { answer } from './answers.ts';

/** Refuses a request that exceeds a rate, and says when to retry (contract 10.17). */
export function tooMany(
  context: Pick<Context, 'newResponse' | 'header'>,
  message: string,
  waitSeconds: number,
): Response {
  context.header('retry-after', String(waitSeconds));
  return answer(context, 'tooManyRequests', `${message}: try again after ${waitSeconds} s`);
}
