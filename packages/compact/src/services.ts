import { collectionGateway } from '@pesewa/collection-gateway';
import { operatorConsole } from '@pesewa/console';
import { ledger } from '@pesewa/ledger';
import { payoutGateway } from '@pesewa/payout-gateway';
import { reconciler } from '@pesewa/reconciler';
import type { RunnableService } from '@pesewa/runtime';
import { webhookDispatcher } from '@pesewa/webhook-dispatcher';
import { webhookIngress } from '@pesewa/webhook-ingress';

/** The services of an installation, in the order in which their databases are recovered; the simulator of a rail is none of them. */
export const hubServices: readonly RunnableService[] = [
  ledger,
  payoutGateway,
  collectionGateway,
  reconciler,
  webhookDispatcher,
  webhookIngress,
  operatorConsole,
];
