import { accountOperations, walletKeyOf } from '@pesewa/contracts';
import { type Clock, formatAmount } from '@pesewa/kernel';
import {
  answer,
  foreignCursor,
  refused,
  type ServedAnswer,
  type ServedRequest,
  serveOperations,
} from '@pesewa/runtime';
import type { Hono } from 'hono';
import { balanceOf, currencyOf, floatPrefix } from './domain/accounts.ts';
import { trialBalance } from './domain/trial-balance.ts';
import { viewEntry, viewStatementItem, viewSums } from './entry-views.ts';
import { type SharedPlace, statedEntriesOf, type WalletPlace } from './statement.ts';
import { isFinal, type Statements } from './statements.ts';
import type { LedgerStore } from './store.ts';
import { createTurnovers } from './turnovers.ts';

const POSTINGS_PER_PAGE = 100;

const WALLET = 'wallet:';

/** The dependencies of the routes of accounts. */
export interface AccountRouteDeps {
  readonly store: Pick<LedgerStore, 'findWallet' | 'findPostings' | 'findShared' | 'readAll'>;
  readonly statements: Statements;
  readonly clock: Clock;
}

/** Adds the routes that read accounts, entries and statements. */
export function addAccountRoutes(app: Hono, deps: AccountRouteDeps): void {
  const { store } = deps;
  const turnoversOf = createTurnovers(deps.statements);
  serveOperations(app, accountOperations, {
    shared: async ({ query: { from, to } }) => {
      const shared = await store.findShared('');
      const names = shared.map(({ account }) => account);
      const moved = from && to ? await turnoversOf(names, { from, to }) : [];
      const items = shared.map(({ account, ...all }, index) => {
        const currency = currencyOf(account);
        const text = (minor: bigint) => formatAmount(minor, currency);
        const { debits, credits } = moved[index] ?? {};
        return {
          account,
          currency,
          balance: text(balanceOf(account, all)),
          ...(debits !== undefined &&
            credits !== undefined && { turnover: { debits: text(debits), credits: text(credits) } }),
        };
      });
      return answer(200, { items, next: null });
    },
    trialBalance: async () => {
      const { wallets, shared } = await store.readAll();
      const items = trialBalance(wallets, shared).map(({ currency, account, debit, credit }) => ({
        currency,
        account,
        debit: formatAmount(debit, currency),
        credit: formatAmount(credit, currency),
      }));
      return answer(200, { items, next: null });
    },
    wallet: async ({ parameters: { merchantId, currency } }) => {
      const wallet = await store.findWallet(walletKeyOf(merchantId, currency));
      if (!wallet) return refused('not_found', 'no entry has touched such a wallet yet');
      return answer(200, {
        merchantId,
        currency,
        available: formatAmount(wallet.available, currency),
        held: formatAmount(wallet.held, currency),
        sequence: Number(wallet.sequence),
      });
    },
    floats: async () => {
      const floats = await store.findShared(floatPrefix);
      const items = floats.map(({ account, ...turnover }) => {
        const [, rail = '', currency = ''] = account.split(':');
        return { rail, currency, balance: formatAmount(balanceOf(account, turnover), currency) };
      });
      return answer(200, { items, next: null });
    },
    entries: async ({ query: { reference, cursor = '' } }) => {
      if (cursor !== '' && !cursor.startsWith(`${reference}/`)) return foreignCursor;
      const postings = await store.findPostings(reference, cursor, POSTINGS_PER_PAGE);
      const next = postings.length === POSTINGS_PER_PAGE ? (postings.at(-1)?._id ?? null) : null;
      return answer(200, { items: postings.flatMap(statedEntriesOf).map(viewEntry), next });
    },
    statement: (request) => readStatement(deps, request),
  });
}

async function readStatement(
  { statements, clock }: AccountRouteDeps,
  { query }: ServedRequest<typeof accountOperations.statement>,
): Promise<ServedAnswer<typeof accountOperations.statement>> {
  const { account, from, cursor = '', limit } = query;
  const to = query.to ?? new Date(Math.max(clock.nowMs(), from.getTime()));
  const isWallet = account.startsWith(WALLET);
  const wallet = isWallet ? readWalletPlace(cursor) : undefined;
  const shared = isWallet ? undefined : readSharedPlace(cursor);
  const place = wallet ?? shared;
  const isWithin = place !== undefined && place.atMs >= from.getTime() && place.atMs < to.getTime();
  if (cursor !== '' && !isWithin) return foreignCursor;
  const statement = isWallet
    ? await statements.ofWallet(account.slice(WALLET.length), { from, to }, { after: wallet, limit })
    : await statements.ofShared(account, { from, to }, { after: shared, limit });
  if (!statement) return refused('not_found', 'no entry has touched such an account yet');
  const { opening, closing, items, next, readAtMs } = statement;
  const currency = currencyOf(account);
  return answer(200, {
    account,
    currency,
    from: from.toISOString(),
    to: to.toISOString(),
    final: isFinal(to, readAtMs),
    opening: viewSums(opening, currency),
    closing: viewSums(closing, currency),
    items: items.map(viewStatementItem),
    next: next ? writePlace(next) : null,
  });
}

/** A place as text, opaque to clients. */
function writePlace(place: WalletPlace | SharedPlace): string {
  const parts = 'sequence' in place ? [place.sequence] : [place.pageId, place.position];
  return Buffer.from([place.atMs, ...parts].join(' ')).toString('base64url');
}

function readWalletPlace(cursor: string): WalletPlace | undefined {
  const [, atMs, sequence] = /^(\d{1,15}) (\d{1,18})$/.exec(readCursor(cursor)) ?? [];
  return atMs && sequence ? { atMs: Number(atMs), sequence: BigInt(sequence) } : undefined;
}

function readSharedPlace(cursor: string): SharedPlace | undefined {
  const [, atMs, pageId, position] = /^(\d{1,15}) (\S+) (\d{1,7})$/.exec(readCursor(cursor)) ?? [];
  return atMs && pageId && position ? { atMs: Number(atMs), pageId, position: Number(position) } : undefined;
}

function readCursor(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}
