import type { Logger } from '@pesewa/runtime';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import type { Faults } from './faults.ts';
import { callbackBody } from './payment-bodies.ts';
import type { SendCallback } from './payments.ts';

/** Sends callbacks to the client over keep-alive connections. */
export interface CallbackSender extends AsyncDisposable {
  readonly send: SendCallback;
}

const CONNECTIONS_MAX = 64;
/** Shorter than servers allow: a callback would be lost on a connection that its server has just closed. */
const IDLE_MAX_MS = 300;

/** Builds a callback sender; with a secret (`whsec_…`) its callbacks are signed after Standard Webhooks. */
export function createCallbackSender(options: {
  readonly faults: Faults;
  readonly logger: Logger;
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  readonly signingSecret: string | undefined;
}): CallbackSender {
  const { faults, logger, timeoutMs, nowMs } = options;
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    keepAliveTimeout: IDLE_MAX_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
  });
  const signer = options.signingSecret === undefined ? undefined : new Webhook(options.signingSecret);
  const sign = (id: string, body: string): Record<string, string> => {
    if (signer === undefined) return {};
    const sentAt = new Date(nowMs());
    const timestamp = Math.floor(sentAt.getTime() / 1_000).toString();
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signer.sign(id, sentAt, body),
    };
  };
  return {
    send: async (payment, statement) => {
      if (!faults.current().callbacks) return 'suppressed';
      const body = callbackBody(payment, statement);
      const { ownReference, callbackUrl } = payment.terms;
      try {
        const answer = await request(callbackUrl, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...sign(`${ownReference}:${statement.status}`, body),
          },
          body,
          dispatcher: agent,
          signal: AbortSignal.timeout(timeoutMs),
        });
        await answer.body.dump();
        if (answer.statusCode >= 200 && answer.statusCode < 300) return 'delivered';
        logger.debug({ reference: ownReference, status: answer.statusCode }, 'a callback was refused');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        logger.debug({ reference: ownReference, code }, 'a callback did not arrive');
      }
      return 'refused';
    },
    [Symbol.asyncDispose]: () => agent.close(),
  };
}
