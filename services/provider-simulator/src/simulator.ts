import type { Clock, Ids } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { createApp } from './app.ts';
import { createCallbackSender } from './callback-sender.ts';
import type { Config } from './config.ts';
import { createPaymentRules } from './domain/rules.ts';
import { createFaults } from './faults.ts';
import { openJournal } from './journal.ts';
import { createPaymentIndex } from './payment-index.ts';
import { createPayments } from './payments.ts';
import { openReceivedWebhooks } from './received-webhooks.ts';
import { createScenarios } from './scenarios.ts';
import { createScheduler } from './scheduler.ts';
import { createScriptedAnswers, type HttpEnv } from './scripted-answers.ts';
import { createWallets } from './wallets.ts';

/** A running simulator; disposing of it leaves pending work to the next start. */
export interface Simulator extends AsyncDisposable {
  readonly app: Hono<HttpEnv>;
  /** Cuts the connections that are never answered; call it before the server drains. */
  readonly releaseHeld: () => void;
}

interface SimulatorDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Called when a file can't be written any more: the process must end. */
  readonly onBroken: (error: Error) => void;
}

/** Opens the files, rebuilds the state from the journal, and continues pending work. */
export async function openSimulator(deps: SimulatorDeps): Promise<Simulator> {
  const { config, clock, ids, logger, onBroken } = deps;
  await using opened = new AsyncDisposableStack();
  const closing = new AbortController();
  const wallets = createWallets(config.WALLETS);
  const paymentIndex = createPaymentIndex(wallets);
  const faults = createFaults();
  const scenarios = createScenarios();
  const received = opened.use(await openReceivedWebhooks({ path: config.RECEIVED_FILE, onBroken }));
  const journal = opened.use(
    await openJournal({ path: config.JOURNAL_FILE, restore: paymentIndex.restore, onBroken }),
  );
  const callbackSender = opened.use(
    createCallbackSender({
      faults,
      logger,
      timeoutMs: config.CALLBACK_TIMEOUT_MS,
      nowMs: clock.nowMs,
      signingSecret: config.CALLBACK_SIGNING_SECRET,
    }),
  );
  const scheduler = opened.use(createScheduler(clock));
  const rules = createPaymentRules(timingOf(config));
  const payments = createPayments({
    paymentIndex,
    clock,
    journal,
    rules,
    scheduler,
    wallets,
    sendCallback: callbackSender.send,
  });
  payments.resume();
  const app = createApp({
    clock,
    faults,
    ids,
    journal,
    logger,
    payments,
    received,
    receivers: new Map(),
    scenarios,
    wallets,
    answerAs: createScriptedAnswers({ clock, holdMs: config.ANSWER_HOLD_MS, closing: closing.signal }),
    clientPublicKey: config.CLIENT_PUBLIC_KEY,
    callbackUrls: { payouts: config.CALLBACK_PAYOUTS_URL, collections: config.CALLBACK_COLLECTIONS_URL },
    publicUrl: config.PUBLIC_URL.replace(/\/$/, ''),
  });
  const resources = opened.move();
  return {
    app,
    releaseHeld: () => closing.abort(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function timingOf(config: Config) {
  return {
    callbackDelayMs: config.CALLBACK_DELAY_MS,
    customerDelayMs: config.CUSTOMER_DELAY_MS,
    completionWindowMs: config.COMPLETION_WINDOW_MS,
    callbackAttemptsMax: config.CALLBACK_ATTEMPTS_MAX,
  };
}
