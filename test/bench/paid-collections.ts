import { waitUntil } from '@pesewa/infrastructure';
import type { Stack } from '@pesewa/stack';
import { initiateCollections } from './shared-stack.ts';

const IN_PARALLEL = 32;
const DEADLINE_MS = 300_000;

/** Initiates collections whose customers have paid by the time this is done; gives our references. */
export async function initiatePaid(stack: Stack, count: number): Promise<string[]> {
  const references = await initiateCollections(stack, { count, inParallel: IN_PARALLEL });
  const last = references.at(-1) ?? '';
  await waitUntil('the last customer', DEADLINE_MS, async () => {
    const journal = await stack.simulator.journal(last);
    if (!journal.some(({ kind }) => kind === 'execution')) throw new Error('not paid yet');
  });
  return references;
}

/** A callback as the simulated upstream sends it (contract 6.2). */
export function callbackBody(reference: string): string {
  return JSON.stringify({
    transaction_reference: `UP-${reference}`,
    transaction_status: 'Funds Received',
    transaction_fee: 15,
    amount_received: 1500,
    initiated_date: '2026-01-15 12:00:00',
    current_status_date: '2026-01-15 12:00:01',
    received_from: {},
    merchant_reference: reference,
    status: 'COMPLETED',
    channel: 'MOBILE_MONEY',
    currency_code: 'XOF',
  });
}
