import { type CrashAt, rowsAt } from './crash-runner.ts';

/** What people and audits are at when a process dies; no payment brings it about. */
export type OperatorAction =
  | 'an adjustment is noted'
  | 'an adjustment is proposed'
  | 'an adjustment is approved'
  | 'a break is explained'
  | 'a close finds a difference'
  | 'a statement comes in'
  | 'a statement is matched'
  | 'an audit finds a payment missing'
  | 'a posting is missing'
  | 'a step is looked at again'
  | 'a wallet drifts'
  | 'a payout ends as people decided';

/** A named line at which the reconciler dies, or the ledger or the gateway that carries out what people decided. */
export interface ReconcilerCrashRow extends CrashAt {
  readonly action: OperatorAction;
}

const both = (name: string) => [`${name}.before-commit`, `${name}.after-commit`];
const during = (action: OperatorAction, ...points: Parameters<typeof rowsAt>[1]) =>
  rowsAt('reconciler', points, { action });
const atLedger = (action: OperatorAction, name: string) => rowsAt('ledger', both(name), { action });
const atGateway = (action: OperatorAction, name: string) => rowsAt('payout-gateway', both(name), { action });

/** The kinds of the breaks that an operator action leaves to people. */
export const leftBy: Readonly<Record<OperatorAction, readonly string[]>> = {
  'an adjustment is noted': [],
  'an adjustment is proposed': [],
  'an adjustment is approved': [],
  'a break is explained': ['close.differs'],
  'a close finds a difference': ['close.differs'],
  'a statement comes in': ['statement.differs', 'statement.missing_here', 'statement.missing_here'],
  'a statement is matched': ['statement.differs', 'statement.missing_here', 'statement.missing_here'],
  'an audit finds a payment missing': [],
  'a posting is missing': [],
  'a step is looked at again': [],
  'a wallet drifts': [],
  'a payout ends as people decided': [],
};

/**
 * Every named point that only people and audits pass, one after another.
 *
 * Where a lease or a consumer's session has to run out, other rows go on meanwhile. The second time that a rail is asked it
 * tells the same difference again, so that is where a close opens its break.
 */
export const reconcilerCrashRows: readonly ReconcilerCrashRow[] = [
  // First: the only events under way are those of the order.
  ...during('an adjustment is approved', ...both('reconciler.batch')),
  ...during('a close finds a difference', ...both('reconciler.close-page')),
  ...during(
    'a close finds a difference',
    ['reconciler.close.before-call', 2],
    ['reconciler.close.after-call', 2],
    ['reconciler.close.before-commit', 2],
    ['reconciler.close.after-commit', 2],
  ),
  // The second step opens the breaks of lines without a payment.
  ...during('a statement is matched', ['reconciler.statement-breaks.after-commit', 2]),
  ...atGateway('a payout ends as people decided', 'payouts.decided'),
  ...atLedger('an adjustment is proposed', 'ledger.command'),
  ...atLedger('an adjustment is approved', 'ledger.decision'),
  // Before a payment is missing, which would be a drift too.
  ...during('a wallet drifts', 'reconciler.comparison.before-commit'),
  ...during('an adjustment is noted', ...both('reconciler.break')),
  ...during('a wallet drifts', 'reconciler.comparison.after-commit'),
  ...during('an audit finds a payment missing', 'reconciler.coverage.before-commit'),
  // Half the file is stored.
  ...during('a statement comes in', ['reconciler.statement.before-commit', 2]),
  ...during('a break is explained', ...both('reconciler.break')),
  ...during('an audit finds a payment missing', 'reconciler.coverage.after-commit'),
  ...during('a statement comes in', ['reconciler.statement.after-commit', 2]),
  // Two steps look whether it explains the breaks of the statements before, the third opens a break.
  ...during('a statement is matched', ['reconciler.statement-breaks.before-commit', 4]),
  ...during('a step is looked at again', ...both('reconciler.steps')),
  ...during('a posting is missing', ...both('reconciler.books')),
];
