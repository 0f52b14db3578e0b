import { z } from 'zod';
import { type Addresses, requireAddress } from './config.ts';
import { CliError } from './errors.ts';
import type { CliPorts, OperationsAnswer } from './ports.ts';

const refusal = z.object({ message: z.string() });
const list = z.object({ items: z.array(z.record(z.string(), z.unknown())), next: z.string().nullable() });
const account = z.object({
  currency: z.string(),
  available: z.string(),
  held: z.string(),
  sequence: z.number(),
});

/** A wallet as the ledger shows it; amounts are decimal text. */
export type Account = z.output<typeof account>;

/** An order of money: to a merchant's wallet, or to our float at a rail. */
export type Funding = {
  readonly commandId: string;
  readonly currency: string;
  readonly amount: string;
  readonly requestedBy: string;
} & ({ readonly merchantId: string } | { readonly rail: string });

/** The operator APIs that commands talk to (design 1). */
export interface Operations {
  /** Sends the order and resolves once the ledger has applied it; the same again is applied once. */
  readonly fund: (funding: Funding) => Promise<void>;
  readonly account: (merchantId: string, currency: string) => Promise<Account>;
  readonly drift: () => Promise<readonly Record<string, unknown>[]>;
  readonly timeline: (reference: string) => Promise<readonly Record<string, unknown>[]>;
}

const APPLIED_TIMEOUT_MS = 30_000;
const PAUSE_MS = 150;
const PAGES_MAX = 100;

/** Builds {@link Operations} over the resolved addresses; each is required only when it is used. */
export function createOperations(
  ports: Pick<CliPorts, 'exchange' | 'clock'>,
  addresses: Addresses,
): Operations {
  const ask = async (
    service: 'ledgerUrl' | 'reconcilerUrl',
    path: string,
    body?: unknown,
  ): Promise<OperationsAnswer> => {
    const url = `${requireAddress(addresses, service).replace(/\/+$/, '')}${path}`;
    const token = requireAddress(addresses, 'operatorToken');
    return ports.exchange({ url, token, ...(body !== undefined && { body }) });
  };
  const listAll = async (path: string): Promise<readonly Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = [];
    let cursor = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const separator = path.includes('?') ? '&' : '?';
      const at = cursor === '' ? path : `${path}${separator}cursor=${encodeURIComponent(cursor)}`;
      const answer = read(list, await ask('reconcilerUrl', at), path);
      items.push(...answer.items);
      if (answer.next === null) return items;
      cursor = answer.next;
    }
    throw new CliError(`${path} has more than ${PAGES_MAX} pages: ask for less`);
  };
  return {
    fund: async (funding) => {
      const order = 'rail' in funding ? '/commands/fund-float' : '/commands/fund';
      read(z.unknown(), await ask('ledgerUrl', order, funding), order);
      const path = `/commands/${encodeURIComponent(funding.commandId)}`;
      const deadlineMs = ports.clock.nowMs() + APPLIED_TIMEOUT_MS;
      while (
        read(z.object({ status: z.string() }), await ask('ledgerUrl', path), path).status !== 'applied'
      ) {
        if (ports.clock.nowMs() > deadlineMs) {
          throw new CliError(
            `the order is taken but not applied yet: run the same again with --command-id ${funding.commandId}, it is applied once`,
          );
        }
        await ports.clock.sleep(PAUSE_MS);
      }
    },
    account: async (merchantId, currency) => {
      const path = `/accounts/${encodeURIComponent(merchantId)}/${encodeURIComponent(currency)}`;
      const answer = await ask('ledgerUrl', path);
      // A wallet that no entry has touched yet is empty.
      if (answer.status === 404) return { currency, available: '0', held: '0', sequence: 0 };
      return read(account, answer, path);
    },
    drift: () => listAll('/drift'),
    timeline: (reference) => listAll(`/timeline?reference=${encodeURIComponent(reference)}`),
  };
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  answer: OperationsAnswer,
  path: string,
): z.output<Schema> {
  if (answer.status < 200 || answer.status >= 300) {
    const said = refusal.safeParse(answer.body);
    throw new CliError(
      `${path} answered ${answer.status}: ${said.success ? said.data.message : 'no reason given'}`,
    );
  }
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new CliError(`${path} answered something else than expected: use a command line of the same version`);
}
