import { createDirectory } from '@pesewa/directory';
import { databaseTasks, openMessaging } from '@pesewa/messaging';
import { defineService } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { createApprovals } from './approvals.ts';
import { createCommands } from './commands.ts';
import { settings } from './config.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import { createHandlers } from './handlers.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { startOrdersAgain } from './orders-again.ts';
import { createPostings } from './postings.ts';
import { recoverLedger } from './roll-forward.ts';
import { addSettingsRoutes, openSettings } from './settings-routes.ts';
import { createStatements } from './statements.ts';
import { openLedgerStore } from './store.ts';
import { createTargets } from './targets.ts';
import { showWaiting } from './waiting.ts';

/** The ledger, as a process runs it. */
export const ledger = defineService({
  name: 'ledger',
  settings,
  ...databaseTasks('ledger', ledgerDatabaseSchema, recoverLedger),
  compose: async (scope) => {
    const { config, logger, clock, ids } = scope;
    const messaging = await openMessaging(scope, {
      service: 'ledger',
      databaseSchema: ledgerDatabaseSchema,
      batchMessagesMax: config.BATCH_MESSAGES_MAX,
      endsOnClockSkew: true,
    });
    const store = openLedgerStore(messaging.db);
    const postings = createPostings({
      store,
      clock,
      policy: { refundFee: config.REFUND_FEE },
    });
    const commands = createCommands({ db: messaging.db, messaging, ids, clock });
    const approvals = createApprovals(messaging.db);
    const checkPublished = createPublishedCheck({ messaging, store });
    const directorySettings = openSettings(scope, messaging);
    showWaiting(messaging, store, directorySettings, clock);
    await messaging.consume(createHandlers({ postings, approvals, checkPublished }));
    const again = { limitMs: config.ORDERS_AGAIN_AFTER_MS, pauseMs: config.ORDERS_AGAIN_AFTER_MS / 2 };
    await scope.open('orders again', startOrdersAgain({ messaging, clock, logger, ...again }));
    const directory = createDirectory({ db: messaging.database('directory'), clock });
    const app = createApp({
      store,
      statements: createStatements(messaging.db),
      commands,
      targets: createTargets({ directory, railNames: config.RAIL_NAMES }),
      clock,
      logger,
    });
    addSettingsRoutes(app, directorySettings);
    scope.operator.route('/', app);
  },
});
