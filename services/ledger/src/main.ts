import { openMessaging } from '@pesewa/messaging';
import { runService } from '@pesewa/runtime';
import { createApp } from './app.ts';
import { createCommands } from './commands.ts';
import { environment, settings } from './config.ts';
import { createLedgerEvents } from './events.ts';
import { createHandlers } from './handlers.ts';
import { createPostings } from './postings.ts';
import { createStatements } from './statements.ts';
import { openLedgerStore } from './store.ts';

await runService('ledger', settings, environment, async (scope) => {
  const { config, logger, clock, ids } = scope;
  const messaging = await openMessaging(scope, {
    service: 'ledger',
    database: 'ledger',
    produces: ['ledger', 'wallets', 'ledgerCommands'],
    chunkMessagesMax: config.CHUNK_MESSAGES_MAX,
  });
  const store = await openLedgerStore(messaging.db);
  const postings = createPostings({
    store,
    events: createLedgerEvents({ ids, clock }),
    clock,
    policy: { refundFee: config.REFUND_FEE },
  });
  const commands = createCommands({ db: messaging.db, messaging, ids, clock });
  await messaging.consume(createHandlers({ postings }));
  const statements = createStatements(messaging.db);
  scope.operator.route('/', createApp({ store, statements, commands, clock, logger }));
});
