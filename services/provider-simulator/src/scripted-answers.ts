import type { IncomingMessage } from 'node:http';
import type { Clock } from '@pesewa/kernel';
import type { Context, MiddlewareHandler } from 'hono';
import type { AnswerBehaviour } from './domain/script.ts';
import type { Faults } from './faults.ts';

/** What the HTTP server passes on with the request; empty in tests without a port. */
export interface HttpEnv {
  readonly Bindings: { readonly incoming?: IncomingMessage };
}

/** Cuts the client's connection with a TCP reset instead of answering. */
export function resetConnection(context: Context<HttpEnv>): Response {
  context.env.incoming?.socket.resetAndDestroy();
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
}

/** Answers as a script says, after the payment was accepted. */
export type AnswerAsScripted = (
  context: Context<HttpEnv>,
  behaviour: AnswerBehaviour,
  answers: {
    readonly normal: () => Response;
    readonly serverError: () => Response;
    /** Resolves once a callback of the payment was attempted. */
    readonly callbackTried: () => Promise<void>;
  },
) => Promise<Response>;

/** The largest body that the simulator reads. */
export const BODY_BYTES_MAX = 65_536;

const CALLBACK_WAIT_MS = 3_000;

/** Builds the faulty answers; an answer that never comes holds its connection for a bounded time. */
export function createScriptedAnswers(deps: {
  readonly clock: Clock;
  readonly holdMs: number;
  readonly closing: AbortSignal;
}): AnswerAsScripted {
  const { clock, holdMs, closing } = deps;
  return async (context, behaviour, answers) => {
    switch (behaviour) {
      case 'normal':
        return answers.normal();
      case 'serverError':
        return answers.serverError();
      case 'reset':
        return resetConnection(context);
      case 'never':
        await clock.sleep(holdMs, closing);
        return resetConnection(context);
      case 'malformed':
        return context.body('{"isSuccessful":true,"responseData":{', 200, {
          'content-type': 'application/json',
        });
      case 'afterCallback':
        await Promise.race([answers.callbackTried(), clock.sleep(CALLBACK_WAIT_MS, closing)]);
        return answers.normal();
    }
  };
}

/**
 * Applies the faults of the control API to the upstream endpoints: an outage resets connections, latency delays
 * answers.
 */
export function createFaultGate(deps: {
  readonly clock: Clock;
  readonly faults: Faults;
}): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { outage, latencyMs } = deps.faults.current();
    if (outage) return resetConnection(context);
    await next();
    if (latencyMs > 0) await deps.clock.sleep(latencyMs);
    return undefined;
  };
}

/** Whether a header is the Base64 of a text. */
export function isBase64Of(header: string | undefined, text: string): boolean {
  if (header === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return false;
  return Buffer.from(header, 'base64').toString('utf8') === text;
}
