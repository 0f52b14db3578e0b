import {
  accountOperations,
  comparisonOperations,
  type OrderKindName,
  type WalletView,
} from '@pesewa/contracts';
import { displayAmount, parseAmount } from '@pesewa/kernel';
import type { Caller } from './call.ts';
import { ClientError, messageOf, RefusedError } from './errors.ts';

/** The order that somebody asks for. */
export interface OrderRequest {
  readonly kind: OrderKindName;
  readonly account: { readonly merchantId: string } | { readonly rail: string };
  readonly currency: string;
  /** Decimal text without a sign. */
  readonly amount: string;
  /** The change of the account's balance, in minor units. */
  readonly change: bigint;
  readonly direction?: 'credit' | 'debit' | 'surplus' | 'shortage';
}

/** What an order would do. */
export interface ForeseenOrder {
  /** A value with its name and its time, such as `float`, `now`, `100.00 GHS`; or a warning. */
  readonly lines: readonly (string | readonly [what: string, when: 'now' | 'after', value: string])[];
  /** Whether the ledger would refuse it. */
  readonly isRefused: boolean;
}

const NOT_FOUND = 404;

type Calls = Pick<Caller, 'call'>;

/** A wallet; one without entries is empty. */
export async function readWallet(
  { call }: Calls,
  merchantId: string,
  currency: string,
): Promise<Pick<WalletView, 'currency' | 'available' | 'held' | 'sequence'>> {
  try {
    return await call('ledger', accountOperations.wallet, { parameters: { merchantId, currency } });
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== NOT_FOUND) throw error;
    return { currency, available: '0', held: '0', sequence: 0 };
  }
}

/** The balance before and after an order, what is wrong with it, and for a correction of a float the drift. */
export async function foreseeOrder(calls: Calls, request: OrderRequest): Promise<ForeseenOrder> {
  const { account, currency, change, kind } = request;
  const isWallet = 'merchantId' in account;
  const wallet = isWallet ? await readWallet(calls, account.merchantId, currency) : undefined;
  const balance = isWallet ? wallet?.available : await readFloat(calls, account.rail, currency);
  const now = parseAmount(balance ?? '0', currency);
  if (!now.ok) throw new ClientError("the ledger's balance is no amount: use the same version of both");
  const after = now.value.minor + change;
  const name = isWallet ? 'available' : 'float';
  const isRefused = isWallet && after < 0n;
  const lines = [
    [name, 'now', displayAmount(now.value.minor, currency)],
    [name, 'after', displayAmount(after, currency)],
    ...(isRefused ? ['the ledger would refuse this: a wallet gives no more than it has'] : []),
    ...(wallet?.sequence === 0
      ? ['no entry has touched this wallet yet: check the merchant and the currency']
      : []),
    ...(balance === undefined ? ['no entry has touched this float yet: check the name of the rail'] : []),
    ...(kind === 'suspense' && !isWallet ? await foreseeDrift(calls, account.rail, currency, change) : []),
  ] as const;
  return { lines, isRefused };
}

/** The balance of our float at a rail; undefined if it has no entries. */
async function readFloat({ call }: Calls, rail: string, currency: string): Promise<string | undefined> {
  const { items } = await call('ledger', accountOperations.floats, {});
  return items.find((float) => float.rail === rail && float.currency === currency)?.balance;
}

/** The drift of the rail's wallet before and after a change of our float, and whether the change has the wrong sign. */
async function foreseeDrift(
  { call }: Calls,
  rail: string,
  currency: string,
  change: bigint,
): Promise<ForeseenOrder['lines']> {
  const runs = await call('reconciler', comparisonOperations.drift, {}).catch((error: unknown) => {
    if (!(error instanceof ClientError)) throw error;
    return messageOf(error);
  });
  if (typeof runs === 'string') return [['drift', 'now', `not known: ${runs}`]];
  const run = runs.items.find((one) => one.rail === rail && one.currency === currency);
  const now = run && parseAmount(run.drift, currency);
  if (!now?.ok) return [['drift', 'now', 'not known: this wallet was never compared (pesewa reconcile run)']];
  const { minor } = now.value;
  const after = minor - change;
  const text = (of: bigint) => displayAmount(of, currency, 'exceptZero');
  const size = (of: bigint) => (of < 0n ? -of : of);
  const isRightWay = minor !== 0n && minor > 0n === change > 0n;
  const isTooMuch = isRightWay && size(change) > size(minor);
  const than = minor > 0n ? 'more' : 'less';
  const state =
    minor === 0n
      ? 'our float and the rail agree'
      : `the rail has ${displayAmount(size(minor), currency)} ${than} than our float, so the order takes ${isTooMuch ? 'no more than that' : `a ${minor > 0n ? '+' : '-'}`}`;
  const wrong = isTooMuch ? 'this is more than the drift' : 'this makes the drift larger';
  return [
    ['drift', 'now', `${text(minor)}, compared at ${run?.at ?? ''}`],
    ['drift', 'after', text(after)],
    ...(isTooMuch || !isRightWay ? [`${wrong}: ${state}`] : []),
    ...(run?.finding === 'explained' && minor !== 0n
      ? ['payments in flight explain this drift: it goes once they have ended, and needs no order']
      : []),
  ];
}
