import type { ClientSession, Db } from 'mongodb';
import { createSharedStatements } from './shared-statements.ts';
import type { Period, SharedPlace, Statement, StatementPage, WalletPlace } from './statement.ts';
import { createWalletStatements } from './wallet-statements.ts';

/** The entries of an account within a period, with the balances at both ends; nothing for an account never touched. */
export interface Statements {
  /** By `merchantId:currency`. */
  readonly ofWallet: (
    walletKey: string,
    period: Period,
    page: StatementPage<WalletPlace>,
  ) => Promise<Statement<WalletPlace> | undefined>;
  readonly ofShared: (
    account: string,
    period: Period,
    page: StatementPage<SharedPlace>,
  ) => Promise<Statement<SharedPlace> | undefined>;
}

/** Builds {@link Statements}: each answer is read as of one moment, of what a majority has committed. */
export function createStatements(db: Db): Statements {
  const ofWallet = createWalletStatements(db);
  const ofShared = createSharedStatements(db);
  const asOfOneMoment = <Value>(read: (session: ClientSession) => Promise<Value>): Promise<Value> =>
    db.client.withSession({ snapshot: true }, read);
  return {
    ofWallet: (walletKey, period, page) =>
      asOfOneMoment((session) => ofWallet(walletKey, period, page, session)),
    ofShared: (account, period, page) => asOfOneMoment((session) => ofShared(account, period, page, session)),
  };
}
