import { type OrderKindName, type OrderView, orderOperations, proposalOperations } from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import type { CliPorts } from '../ports.ts';

/** A proposal: the path of its kind, and the body. */
export interface Proposal {
  readonly kind: OrderKindName;
  readonly body: Readonly<Record<string, string>> & { readonly commandId: string };
}

const ENDED_TIMEOUT_MS = 30_000;
const PAUSE_MS = 150;

/** Builds the client of the ledger's orders (ADR 17): proposed by one operator, approved by another. */
export function createOrders(ports: Pick<CliPorts, 'clock' | 'progress'>, { call, list }: Caller) {
  const show = (commandId: string) => call('ledger', orderOperations.show, { parameters: { commandId } });
  return {
    // Which fields go with which kind is known to the commands, and judged by the ledger.
    propose: ({ kind, body }: Proposal): Promise<OrderView> =>
      call('ledger', proposalOperations[kind], { body: body as never }),
    approve: (commandId: string) => call('ledger', orderOperations.approve, { parameters: { commandId } }),
    reject: (commandId: string, reason: string) =>
      call('ledger', orderOperations.reject, { parameters: { commandId }, body: { reason } }),
    show,
    /** The newest first, at most `limit`. */
    list: async (status: OrderView['status'] | undefined, limit: number) =>
      (await list('ledger', orderOperations.list, { status }, limit)).items,
    /** Resolves once the ledger has applied or refused the approved order. */
    ended: async (commandId: string): Promise<OrderView> => {
      const startMs = ports.clock.nowMs();
      try {
        for (;;) {
          const seen = await show(commandId);
          if (seen.status !== 'approved') return seen;
          const waitedMs = ports.clock.nowMs() - startMs;
          if (waitedMs > ENDED_TIMEOUT_MS) {
            throw new CliError(
              `${commandId} is approved but not applied yet: the ledger will; look with pesewa orders show ${commandId}`,
            );
          }
          ports.progress(
            `${commandId} is approved, the ledger applies it … ${Math.floor(waitedMs / 1000)} s`,
          );
          await ports.clock.sleep(PAUSE_MS);
        }
      } finally {
        ports.progress('');
      }
    },
  };
}
