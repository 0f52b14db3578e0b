import { type ClientSession, type Db, ReadConcern, Timestamp } from 'mongodb';
import type { Turnover } from './domain/accounts.ts';
import { createSharedStatements, readTurnover } from './shared-statements.ts';
import type { Period, SharedPlace, Statement, StatementPage, WalletPlace } from './statement.ts';
import { createWalletStatements } from './wallet-statements.ts';

/** A statement, and the moment of its snapshot by the database's clock; 0 if unknown. */
export type Dated<Place> = Statement<Place> & { readonly readAtMs: number };

/**
 * The entries of an account within a period, with the balances at both ends; undefined for an account without entries.
 */
export interface Statements {
  /** The wallet is given as `merchantId:currency`. */
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
  /** What was debited and credited to each of these shared accounts within a period, in their order. */
  readonly turnovers: (
    accounts: readonly string[],
    period: Period,
  ) => Promise<{ readonly turnovers: readonly Turnover[]; readonly readAtMs: number }>;
}

/**
 * How long after a time an entry with that time may still be committed: a transaction lives ten seconds at most (ADR
 * 41), and our clocks differ from the database's by less than the rest.
 */
const FINAL_AFTER_MS = 15_000;

/**
 * Whether a snapshot of this moment has every entry before a time. The snapshot's own moment counts: our clock may be
 * past it while the snapshot is older.
 */
export function isFinal(to: Date, readAtMs: number): boolean {
  return to.getTime() <= readAtMs - FINAL_AFTER_MS;
}

/** Builds {@link Statements}: each answer is read from one snapshot of majority-committed data. */
export function createStatements(db: Db): Statements {
  const inSnapshot = <Value>(
    read: (snapshot: Db, session: ClientSession) => Promise<Value>,
  ): Promise<Value> =>
    db.client.withSession({ snapshot: true }, async (session) => {
      // The session alone takes no snapshot if the client has another read concern. Each answer needs a new session:
      // the driver stores the snapshot's time in it and would keep reading as of that time.
      const snapshot = db.client.db(db.databaseName, { readConcern: new ReadConcern('snapshot') });
      return read(snapshot, session);
    });
  const asOfOneMoment = <Place>(
    read: (snapshot: Db, session: ClientSession) => Promise<Statement<Place> | undefined>,
  ): Promise<Dated<Place> | undefined> =>
    inSnapshot(async (snapshot, session) => {
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
    turnovers: (accounts, period) =>
      inSnapshot(async (snapshot, session) => {
        const turnovers: Turnover[] = [];
        // A session takes one command at a time.
        for (const account of accounts)
          turnovers.push(await readTurnover(snapshot, account, period, session));
        return { turnovers, readAtMs: snapshotTimeMs(session) };
      }),
  };
}

/** The time of the session's snapshot, in whole seconds; the driver's types leave it out. */
function snapshotTimeMs(session: ClientSession): number {
  const time: unknown = Reflect.get(session, 'snapshotTime');
  return time instanceof Timestamp ? time.t * 1_000 : 0;
}
