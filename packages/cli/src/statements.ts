import { parseAmount } from '@pesewa/kernel';
import { z } from 'zod';
import type { Ask } from './ask.ts';
import { CliError } from './errors.ts';
import type { CliPorts } from './ports.ts';

/** Sums by name, as decimal strings: a wallet has `available` and `held`, any other account `balance`. */
const sums = z.record(z.string(), z.string());

const item = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.string(),
  reference: z.string(),
  causationId: z.string(),
  debit: z.string(),
  credit: z.string(),
  /** The change by the entry, signed. */
  amount: sums,
  /** The balance after the entry. */
  balance: sums,
});

const page = z.object({
  account: z.string(),
  currency: z.string(),
  from: z.string(),
  to: z.string(),
  /** Whether no further entry of this period can come. */
  final: z.boolean(),
  opening: sums,
  closing: sums,
  items: z.array(item),
  next: z.string().nullable(),
});

/** The entries of an account between two times, with its balances before and after them. */
export type Statement = Omit<z.output<typeof page>, 'next'>;

/** The statements of the ledger's accounts. */
export interface Statements {
  readonly of: (query: {
    readonly account: string;
    readonly from: Date;
    readonly to: Date;
  }) => Promise<Statement>;
}

const ENTRIES_MAX = 200_000;
const ENTRIES_PER_PAGE = '500';
const READINGS_MAX = 3;

type Query = Parameters<Statements['of']>[0];

/**
 * Builds {@link Statements}. A statement whose entries don't lead from its opening to its closing balance is read
 * again.
 */
export function createStatements(ports: Pick<CliPorts, 'progress'>, ask: Ask): Statements {
  return {
    of: async (query) => {
      try {
        for (let reading = 1; reading <= READINGS_MAX; reading += 1) {
          const statement = await readPages(ports, ask, query);
          if (addsUp(statement)) return statement;
        }
      } finally {
        ports.progress('');
      }
      throw new CliError(
        `--to: ${query.account} moved each time while it was read: end it at a time that has passed`,
      );
    },
  };
}

/** Reads all pages: the balances are those of the last page, and the statement is final only if every page was. */
async function readPages(
  ports: Pick<CliPorts, 'progress'>,
  ask: Ask,
  { account, from, to }: Query,
): Promise<Statement> {
  const items: z.output<typeof item>[] = [];
  let cursor = '';
  let final = true;
  for (;;) {
    const period = { from: from.toISOString(), to: to.toISOString() };
    const query = new URLSearchParams({ account, ...period, limit: ENTRIES_PER_PAGE });
    if (cursor !== '') query.set('cursor', cursor);
    const { next, ...statement } = await ask(page, {
      service: 'ledgerUrl',
      path: `/statements?${query.toString()}`,
    });
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
