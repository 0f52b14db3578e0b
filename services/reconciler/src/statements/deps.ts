import type { Messaging } from '@pesewa/messaging';
import type { ServiceScope } from '@pesewa/runtime';
import type { BreakStore } from '../breaks/store.ts';
import type { RailFee } from '../handlers.ts';
import type { WindowPayments } from '../matching/payments.ts';
import type { WorkingStore } from '../store.ts';
import type { FileLimits } from './lines.ts';
import type { StatementStore } from './store.ts';

/** What statements are built from. */
export interface StatementDeps extends Pick<ServiceScope<object>, 'clock' | 'ids' | 'logger'> {
  readonly statementStore: StatementStore;
  readonly payments: WindowPayments;
  readonly store: WorkingStore;
  readonly breaks: BreakStore;
  readonly railFee: RailFee;
  readonly messaging: Pick<Messaging, 'db' | 'owner' | 'groupCommit' | 'caughtUp'>;
  readonly limits: FileLimits;
  /** How many breaks one statement may open. */
  readonly breaksMax: number;
  /** How long a statement is kept. */
  readonly keepMs: number;
}
