import type { StartJudgement, StartProblem } from '@pesewa/kafka';
import { type CollectionSchema, collectionProblems, type FoundCollection } from './collections.ts';

/** What a server says of itself, and of one database. */
export interface FoundServer {
  /** Its answer to `hello`. */
  readonly hello: { readonly setName?: unknown; readonly msg?: unknown };
  /** Nothing where it does not say. */
  readonly transactionLifetimeS: number | undefined;
  /** The name of the database, with the installation's prefix. */
  readonly database: string;
  readonly collections: readonly FoundCollection[];
}

/** A killed process leaves its locks behind for so long (ADR 13). */
const TRANSACTION_LIFETIME_S_MAX = 10;

/** Whether a server has transactions: a member of a replica set has, and what stands before a sharded cluster. */
export function hasTransactions({ setName, msg }: FoundServer['hello']): boolean {
  return typeof setName === 'string' || msg === 'isdbgrid';
}

/** What one has to do where a server has none. */
export const REPLICA_SET_REMEDY = 'start mongod with --replSet and initiate the set';

/** Whether money may be kept in what was found. */
export function judgeServer(
  { hello, transactionLifetimeS, database, collections }: FoundServer,
  declared: readonly CollectionSchema[],
): StartJudgement {
  const standalone: readonly StartProblem[] = hasTransactions(hello)
    ? []
    : [
        {
          message: 'MongoDB: the server is no replica set: it has no transactions',
          remedy: REPLICA_SET_REMEDY,
        },
      ];
  return {
    problems: [
      ...standalone,
      ...lifetimeProblems(transactionLifetimeS),
      ...collectionProblems(database, declared, collections),
    ],
    unchecked: transactionLifetimeS === undefined ? [LIFETIME_UNKNOWN] : [],
  };
}

const LIFETIME_UNKNOWN =
  'MongoDB: transactionLifetimeLimitSeconds is not known: make sure that every mongod has ' +
  `${TRANSACTION_LIFETIME_S_MAX} or less (of a replica set it is read by the role clusterMonitor, a mongos has none)`;

function lifetimeProblems(seconds: number | undefined): readonly StartProblem[] {
  if (seconds === undefined || seconds <= TRANSACTION_LIFETIME_S_MAX) return [];
  return [
    {
      message: `MongoDB: transactionLifetimeLimitSeconds is ${seconds}: a killed process would hold its locks for as long`,
      remedy: `set it to ${TRANSACTION_LIFETIME_S_MAX} or less on every mongod, by --setParameter`,
    },
  ];
}
