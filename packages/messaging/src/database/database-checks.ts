import type { StartCheckResult, StartProblem } from '@pesewa/kafka';
import { type CollectionSchema, type FoundCollection, schemaProblems } from './schema.ts';

/** What a server reports about itself and about one database. */
export interface FoundServer {
  /** Its answer to `hello`. */
  readonly hello: { readonly setName?: unknown; readonly msg?: unknown };
  /** Undefined if the server does not report it. */
  readonly transactionLifetimeS: number | undefined;
  /** The name of the database, including the installation's prefix. */
  readonly database: string;
  readonly collections: readonly FoundCollection[];
}

/** The locks of a killed process last for so long. */
const TRANSACTION_LIFETIME_S_MAX = 10;

/** Whether a server has transactions: members of a replica set and the routers of a sharded cluster have. */
export function hasTransactions({ setName, msg }: FoundServer['hello']): boolean {
  return typeof setName === 'string' || msg === 'isdbgrid';
}

/** What to do if a server has no transactions. */
export const REPLICA_SET_REMEDY = 'start mongod with --replSet and initiate the set';

/** The problems because of which money must not be kept in this database. */
export function checkServer(
  { hello, transactionLifetimeS, database, collections }: FoundServer,
  declared: readonly CollectionSchema[],
): StartCheckResult {
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
      ...schemaProblems(database, declared, collections),
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
