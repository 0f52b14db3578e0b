import { type ClientSession, type Db, ReadConcern, Timestamp } from 'mongodb';
import { createSharedStatements } from './shared-statements.ts';
import type { Period, SharedPlace, Statement, StatementPage, WalletPlace } from './statement.ts';
import { createWalletStatements } from './wallet-statements.ts';

/** A statement, and the moment as of which it was read, by the database's clock; 0 where it is not known. */
export type Dated<Place> = Statement<Place> & { readonly readAtMs: number };

/** The entries of an account within a period, with the balances at both ends; nothing for an account never touched. */
export interface Statements {
  /** By `merchantId:currency`. */
  readonly ofWallet: (
    walletKey: string,
    period: Period,
    page: StatementPage<WalletPlace>,
  ) => Promise<Dated<WalletPlace> | undefined>;
  readonly ofShared: (
    account: string,
    period: Period,
    page: StatementPage<SharedPlace>,
  ) => Promise<Dated<SharedPlace> | undefined>;
}

/** Builds {@link Statements}: each answer is read as of one moment, of what a majority has committed. */
export function createStatements(db: Db): Statements {
  const asOfOneMoment = <Place>(
    read: (snapshot: Db, session: ClientSession) => Promise<Statement<Place> | undefined>,
  ): Promise<Dated<Place> | undefined> =>
    db.client.withSession({ snapshot: true }, async (session) => {
      // The session alone takes no snapshot where the client names another read concern. One for each answer: the
      // driver notes the moment in it, and would go on reading as of that moment.
      const snapshot = db.client.db(db.databaseName, { readConcern: new ReadConcern('snapshot') });
      const statement = await read(snapshot, session);
      return statement && { ...statement, readAtMs: snapshotTimeMs(session) };
    });
  return {
    ofWallet: (walletKey, period, page) =>
      asOfOneMoment((snapshot, session) =>
        createWalletStatements(snapshot)(walletKey, period, page, session),
      ),
    ofShared: (account, period, page) =>
      asOfOneMoment((snapshot, session) => createSharedStatements(snapshot)(account, period, page, session)),
  };
}

/** The time of the snapshot that the session has read, in whole seconds; the driver's types leave it out. */
function snapshotTimeMs(session: ClientSession): number {
  const time: unknown = Reflect.get(session, 'snapshotTime');
  return time instanceof Timestamp ? time.t * 1_000 : 0;
}
