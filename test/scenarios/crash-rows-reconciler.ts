import { type CrashAt, rowsAt } from './crash-runner.ts';

/** What operators or audits are doing when a process crashes; payments alone never pass these points. */
export type OperatorAction =
  | 'an adjustment is proposed'
  | 'an adjustment is approved'
  | 'a break is explained'
  | 'a close finds a difference'
  | 'a statement comes in'
  | 'a statement is matched'
  | 'a posting is missing'
  | 'a step is looked at again'
  | 'a wallet drifts'
  | 'a payout ends as people decided';

/** A crash point of the reconciler, or of the ledger or gateway that carries out a decision. */
export interface ReconcilerCrashRow extends CrashAt {
  readonly action: OperatorAction;
}

const both = (name: string) => [`${name}.before-commit`, `${name}.after-commit`];
const during = (action: OperatorAction, ...points: Parameters<typeof rowsAt>[1]) =>
  rowsAt('reconciler', points, { action });
const atLedger = (action: OperatorAction, name: string) => rowsAt('ledger', both(name), { action });
const atGateway = (action: OperatorAction, name: string) => rowsAt('payout-gateway', both(name), { action });

/** The kinds of the breaks that stay open after an operator action. */
export const leftBy: Readonly<Record<OperatorAction, readonly string[]>> = {
  'an adjustment is proposed': [],
  'an adjustment is approved': [],
  'a break is explained': ['close.differs'],
  'a close finds a difference': ['close.differs'],
  'a statement comes in': ['statement.differs', 'statement.not_in_books', 'statement.not_in_books'],
  'a statement is matched': ['statement.differs', 'statement.not_in_books', 'statement.not_in_books'],
  'a posting is missing': [],
  'a step is looked at again': [],
  'a wallet drifts': [],
  'a payout ends as people decided': [],
};

/**
 * Every crash point that only operator actions and audits pass, one after another.
 *
 * Other rows run while a lease or a consumer's session runs out. A close opens its break at the second poll, when the
 * rail reports the same difference again.
 */
export const reconcilerCrashRows: readonly ReconcilerCrashRow[] = [
  // This row comes first, while the order's events are the only ones in progress.
  ...during('an adjustment is approved', ...both('reconciler.batch')),
  ...during(
    'a close finds a difference',
    ['reconciler.close.before-call', 2],
    ['reconciler.close.after-call', 2],
    ['reconciler.close.before-commit', 2],
    ['reconciler.close.after-commit', 2],
  ),
  ...during('a statement is matched', ...both('reconciler.match-page')),
  // The second step opens the breaks for lines without a payment.
  ...during('a statement is matched', ['reconciler.statement-breaks.after-commit', 2]),
  ...atGateway('a payout ends as people decided', 'payouts.decided'),
  ...atLedger('an adjustment is proposed', 'ledger.command'),
  ...atLedger('an adjustment is approved', 'ledger.decision'),
  ...during('a wallet drifts', 'reconciler.comparison.before-commit'),
  ...during('a wallet drifts', 'reconciler.comparison.after-commit'),
  // At the second pass half the file is stored.
  ...during('a statement comes in', ['reconciler.statement.before-commit', 2]),
  ...during('a break is explained', ...both('reconciler.break')),
  ...during('a statement comes in', ['reconciler.statement.after-commit', 2]),
  // One step checks whether the file explains the breaks of earlier statements; the second opens a break.
  ...during('a statement is matched', ['reconciler.statement-breaks.before-commit', 3]),
  ...during('a step is looked at again', ...both('reconciler.steps')),
  ...during('a posting is missing', ...both('reconciler.steps')),
];
