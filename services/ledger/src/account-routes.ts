import { firstProblem, reference, walletKeyOf } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answerJson, refuseOperator } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { balanceOf, currencyOf, floatPrefix } from './domain/accounts.ts';
import { viewEntry } from './entry-views.ts';
import type { LedgerStore } from './store.ts';

const ENTRIES_PER_PAGE = 100;

/** Adds the routes that read accounts and entries. */
export function addAccountRoutes(
  app: Hono,
  deps: { readonly store: Pick<LedgerStore, 'findWallet' | 'findEntries' | 'findShared'> },
): void {
  const { store } = deps;

  app.get('/accounts', async (context) => {
    const shared = await store.findShared('');
    const items = shared.map(({ account, ...turnover }) => {
      const currency = currencyOf(account);
      return { account, currency, balance: formatAmount(balanceOf(account, turnover), currency) };
    });
    return answerJson(context, 200, { items, next: null });
  });

  app.get('/accounts/:merchantId/:currency', async (context) => {
    const { merchantId, currency } = context.req.param();
    const wallet = await store.findWallet(walletKeyOf(merchantId, currency));
    if (!wallet) return refuseOperator(context, 404, 'not_found', 'no entry has touched such a wallet yet');
    return answerJson(context, 200, {
      merchantId,
      currency,
      available: formatAmount(wallet.available, currency),
      held: formatAmount(wallet.held, currency),
      sequence: Number(wallet.sequence),
    });
  });

  app.get('/entries', async (context) => {
    const wanted = reference.safeParse(context.req.query('reference'));
    if (!wanted.success)
      return refuseOperator(context, 400, 'invalid', `reference ${firstProblem(wanted.error).message}`);
    const cursor = context.req.query('cursor') ?? '';
    if (cursor !== '' && !cursor.startsWith(`${wanted.data}/`)) {
      return refuseOperator(context, 400, 'invalid', 'cursor must be the next of an earlier page');
    }
    const entries = await store.findEntries(wanted.data, cursor, ENTRIES_PER_PAGE);
    const next = entries.length === ENTRIES_PER_PAGE ? (entries.at(-1)?._id ?? null) : null;
    return answerJson(context, 200, { items: entries.map(viewEntry), next });
  });

  app.get('/floats', async (context) => {
    const floats = await store.findShared(floatPrefix);
    const items = floats.map(({ account, ...turnover }) => {
      const [, rail = '', currency = ''] = account.split(':');
      return { rail, currency, balance: formatAmount(balanceOf(account, turnover), currency) };
    });
    return answerJson(context, 200, { items, next: null });
  });
}
