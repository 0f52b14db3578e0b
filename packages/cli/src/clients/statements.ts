import {
  type AccountStatementView,
  accountOperations,
  paymentOperations,
  REFERENCES_MAX,
} from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import { type Caller, ClientError, messageOf } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import type { CliPorts } from '../ports.ts';

/** The entries of an account between two times, with its balances before and after them. */
export type Statement = Omit<AccountStatementView, 'next'>;

/** The statements of the ledger's accounts. */
export interface Statements {
  readonly of: (query: {
    readonly account: string;
    readonly from: Date;
    readonly to: Date;
  }) => Promise<Statement>;
  /** The merchants' own references of the payments that these are ours of, and why some of them are missing. */
  readonly merchantReferences: (references: readonly string[]) => Promise<{
    readonly known: ReadonlyMap<string, string>;
    readonly missing: readonly string[];
  }>;
}

/** The gateways by how our references of their payments begin. */
const gateways = { 'po-': 'payout-gateway', 'co-': 'collection-gateway' } as const;

const ENTRIES_MAX = 200_000;
const ENTRIES_PER_PAGE = 500;
const READINGS_MAX = 3;

type Query = Parameters<Statements['of']>[0];

/**
 * Builds {@link Statements}. A statement whose entries don't lead from its opening to its closing balance is read
 * again.
 */
export function createStatements(ports: Pick<CliPorts, 'progress'>, caller: Caller): Statements {
  return {
    of: async (query) => {
      try {
        for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
          const statement = await readPages(ports, caller, query);
          if (addsUp(statement)) return statement;
        }
      } finally {
        ports.progress('');
      }
      throw new CliError(
        `--to: ${query.account} moved each time while it was read: end it at a time that has passed`,
      );
    },
    merchantReferences: (references) =>
      readMerchantReferences(ports, caller, [...new Set(references)]).finally(() => ports.progress('')),
  };
}

/** Asks each gateway for its own; one that doesn't answer is not asked again. */
async function readMerchantReferences(
  ports: Pick<CliPorts, 'progress'>,
  { call }: Caller,
  references: readonly string[],
): ReturnType<Statements['merchantReferences']> {
  const known = new Map<string, string>();
  const missing: string[] = [];
  for (const [prefix, gateway] of Object.entries(gateways)) {
    const own = references.filter((reference) => reference.startsWith(prefix));
    try {
      for (let first = 0; first < own.length; first += REFERENCES_MAX) {
        const some = own.slice(first, first + REFERENCES_MAX);
        const query = { references: some.join() };
        const { items } = await call(gateway, paymentOperations.references, { query });
        for (const { reference, merchantReference } of items) known.set(reference, merchantReference);
        ports.progress(`${first + some.length} of ${own.length} references …`);
      }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      missing.push(messageOf(error));
    }
  }
  return { known, missing };
}

/** Reads all pages: the balances are those of the last page, and the statement is final only if every page was. */
async function readPages(
  ports: Pick<CliPorts, 'progress'>,
  { call }: Caller,
  { account, from, to }: Query,
): Promise<Statement> {
  const items: AccountStatementView['items'][number][] = [];
  let cursor: string | undefined;
  let final = true;
  for (;;) {
    const period = { from: from.toISOString(), to: to.toISOString() };
    const query = { account, ...period, limit: ENTRIES_PER_PAGE, cursor };
    const { next, ...statement } = await call('ledger', accountOperations.statement, { query });
    items.push(...statement.items);
    final &&= statement.final;
    if (next === null) return { ...statement, final, items };
    if (items.length > ENTRIES_MAX) {
      throw new CliError(`--from: there are more than ${ENTRIES_MAX} entries: ask for a shorter time`);
    }
    ports.progress(`${items.length} entries …`);
    cursor = next;
  }
}

/** Whether every closing balance is the opening one plus the entries' changes. */
function addsUp({ opening, closing, items, currency }: Statement): boolean {
  const minorOf = (text = '0'): bigint | undefined => {
    const amount = parseAmount(text, currency);
    return amount.ok ? amount.value.minor : undefined;
  };
  return Object.keys(closing).every((name) => {
    let minor = minorOf(opening[name]);
    for (const { amount } of items) {
      const moved = minorOf(amount[name]);
      minor = minor === undefined || moved === undefined ? undefined : minor + moved;
    }
    return minor !== undefined && minor === minorOf(closing[name]);
  });
}
