/** The purpose of an account; a wallet has two accounts. */
export type AccountRole = 'available' | 'held' | 'float' | 'feeIncome' | 'railCost' | 'treasury' | 'suspense';

/** An account, parsed from its name. */
export interface Account {
  readonly name: string;
  readonly role: AccountRole;
  readonly currency: string;
  /** `merchantId:currency`; set for the accounts of wallets only. */
  readonly wallet?: string;
}

const sharedRoles: ReadonlySet<string> = new Set<AccountRole>([
  'feeIncome',
  'railCost',
  'treasury',
  'suspense',
]);

/** Reads the name of an account; undefined for a name that is not in the chart. */
function parseAccount(name: string): Account | undefined {
  const [head = '', ...parts] = name.split(':');
  if (parts.some((part) => part === '')) return undefined;
  const [first = '', second = '', third = ''] = parts;
  if (head === 'wallet' && parts.length === 3 && (third === 'available' || third === 'held')) {
    return { name, role: third, currency: second, wallet: `${first}:${second}` };
  }
  if (head === 'float' && parts.length === 2) return { name, role: 'float', currency: second };
  if (sharedRoles.has(head) && parts.length === 1)
    return { name, role: head as AccountRole, currency: first };
  return undefined;
}

/** The legs that each kind of entry may have: debit, then credit. */
export const chart: ReadonlyMap<string, readonly (readonly [AccountRole, AccountRole])[]> = new Map(
  Object.entries({
    hold: [['available', 'held']],
    capture: [['held', 'float']],
    // Of a payout, or of a collection.
    fee: [
      ['held', 'feeIncome'],
      ['float', 'feeIncome'],
    ],
    release: [['held', 'available']],
    railCost: [['railCost', 'float']],
    collect: [['float', 'available']],
    refund: [['float', 'available']],
    refundFee: [['feeIncome', 'available']],
    fund: [['treasury', 'available']],
    withdraw: [['available', 'treasury']],
    fundFloat: [['float', 'treasury']],
    withdrawFloat: [['treasury', 'float']],
    adjust: [
      ['suspense', 'available'],
      ['available', 'suspense'],
    ],
    suspense: [
      ['float', 'suspense'],
      ['suspense', 'float'],
    ],
  } satisfies Record<string, [AccountRole, AccountRole][]>),
);

/** The kinds of entries, in order, of postings that may have several. */
const compositions: ReadonlyMap<string, RegExp> = new Map([
  ['capture', /^capture( fee)?( railCost)?$/],
  ['collect', /^(collect|collect fee|fee)( railCost)?$/],
  ['refund', /^refund( refundFee)?$/],
]);

/** Kinds of entries that are only ever a part of what another posting moves. */
const parts: ReadonlySet<string> = new Set(['fee', 'railCost', 'refundFee']);

/** Whether a posting may have entries of these kinds, in this order. */
export function mayHave(kind: string, entryKinds: readonly string[]): boolean {
  const kinds = entryKinds.join(' ');
  return compositions.get(kind)?.test(kinds) ?? (kinds === kind && !parts.has(kind));
}

/** Reads account names and caches them, because entries use the same few over and over. */
export function createAccountReader(): (name: unknown) => Account | undefined {
  const known = new Map<string, Account>();
  return (name) => {
    if (typeof name !== 'string') return undefined;
    const found = known.get(name);
    if (found) return found;
    const account = parseAccount(name);
    if (account) known.set(name, account);
    return account;
  };
}
