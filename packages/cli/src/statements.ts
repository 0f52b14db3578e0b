import { z } from 'zod';
import { CliError } from './errors.ts';
import type { Ask } from './operations.ts';
import type { CliPorts } from './ports.ts';

/** By name, in decimal text: a wallet has `available` and `held`, any other account `balance`. */
const sums = z.record(z.string(), z.string());

const item = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.string(),
  reference: z.string(),
  causationId: z.string(),
  debit: z.string(),
  credit: z.string(),
  /** What the entry moved, signed. */
  amount: sums,
  /** What it left. */
  balance: sums,
});

const page = z.object({
  account: z.string(),
  currency: z.string(),
  from: z.string(),
  to: z.string(),
  /** Whether no entry of this time can come any more. */
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

/** Builds {@link Statements}. */
export function createStatements(ports: Pick<CliPorts, 'progress'>, ask: Ask): Statements {
  return {
    of: async ({ account, from, to }) => {
      const items: z.output<typeof item>[] = [];
      let cursor = '';
      try {
        for (;;) {
          const period = { from: from.toISOString(), to: to.toISOString() };
          const query = new URLSearchParams({ account, ...period, limit: ENTRIES_PER_PAGE });
          if (cursor !== '') query.set('cursor', cursor);
          const { next, ...statement } = await ask(page, {
            service: 'ledgerUrl',
            path: `/statements?${query.toString()}`,
          });
          items.push(...statement.items);
          if (next === null) return { ...statement, items };
          if (items.length > ENTRIES_MAX) {
            throw new CliError(`--from: there are more than ${ENTRIES_MAX} entries: ask for a shorter time`);
          }
          ports.progress(`${items.length} entries …`);
          cursor = next;
        }
      } finally {
        ports.progress('');
      }
    },
  };
}
