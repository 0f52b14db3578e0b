import type { CollectionSchema } from '@pesewa/messaging';

/** The index of open payments: they are counted by its keys alone, and read in pages of each state. */
export const OPEN_KEY = { 'terms.kind': 1, openState: 1, openedAt: 1, _id: 1 } as const;

/** Sums and payments are read from its keys alone, so `inFlight` must be among them. */
export const IN_FLIGHT_KEY = {
  inFlight: 1,
  'terms.rail': 1,
  'terms.currency': 1,
  mayDebit: 1,
  mayCredit: 1,
  _id: 1,
} as const;

/** The records of a run by result, in the order of their names; they are counted by its keys alone. */
export const RESULT_KEY = { run: 1, result: 1, _id: 1 } as const;

/** The records of a close about which a rail is to be asked. */
export const WAITING_KEY = { run: 1, waits: 1 } as const;

/** The ended payments that nothing has compared with their rail's record; of each rail the oldest is found by a key. */
export const UNCOMPARED_KEY = { uncompared: 1, endedAt: 1, _id: 1 } as const;

/** Only documents that have the field. */
const where = (field: string) => ({ partialFilterExpression: { [field]: { $exists: true } } });

const RUNS_KEPT_S = 400 * 86_400;

const polls: CollectionSchema = {
  name: 'polls',
  indexes: [
    // Due payments are found by keys alone.
    { key: { watch: 1, dueAt: 1, _id: 1 }, ...where('watch') },
    { key: OPEN_KEY, ...where('openState') },
    {
      key: { endedAt: 1, _id: 1, 'terms.rail': 1 },
      ...where('endedAt'),
    },
    { key: UNCOMPARED_KEY, ...where('uncompared') },
    // An end reported in time takes no room here.
    { key: { endHeardAt: 1, _id: 1 }, ...where('endHeardAt') },
    { key: { booksDueAt: 1, _id: 1 }, ...where('booksDueAt') },
    // Set when nothing is left to do, and of references that only callbacks name.
    { key: { forgetAt: 1 }, expireAfterSeconds: 0 },
    { key: IN_FLIGHT_KEY, partialFilterExpression: { inFlight: true } },
  ],
};

/** Breaks in the order in which they are listed. */
export const BREAKS_BY_TIME = { openedAt: -1, _id: -1 } as const;

/** The order of lists of decisions: the newest first. */
export const DECISIONS_BY_TIME = { requestedAt: -1, _id: -1 } as const;

/** All that is counted and summed is included, so that neither reads documents. */
export const BREAKS_COUNT_KEY = { status: 1, kind: 1, since: 1, currency: 1, amount: 1 } as const;

/** One index for each way of narrowing a list of breaks, in the list's order. */
const breaks: CollectionSchema = {
  name: 'breaks',
  indexes: [
    { key: BREAKS_COUNT_KEY, partialFilterExpression: { status: 'open' } },
    { key: BREAKS_BY_TIME },
    { key: { status: 1, ...BREAKS_BY_TIME } },
    { key: { reference: 1, ...BREAKS_BY_TIME } },
    { key: { 'observations.kind': 1, ...BREAKS_BY_TIME } },
    { key: { 'observations.observer': 1, ...BREAKS_BY_TIME }, partialFilterExpression: { status: 'open' } },
    { key: { currency: 1, ...BREAKS_BY_TIME } },
    { key: { rail: 1, ...BREAKS_BY_TIME }, ...where('rail') },
    { key: { owner: 1, ...BREAKS_BY_TIME }, ...where('owner') },
    { key: { ...BREAKS_BY_TIME, proposedResolution: 1 }, ...where('proposedResolution') },
  ],
};

/** The runs of a source, and their records with the indexes that its own questions need. */
const matching = (
  runs: string,
  records: string,
  further: NonNullable<CollectionSchema['indexes']>,
  ofRuns: NonNullable<CollectionSchema['indexes']> = [],
): readonly CollectionSchema[] => [
  {
    name: runs,
    indexes: [
      { key: { requestedAt: -1, _id: -1 } },
      { key: { dueAt: 1 }, partialFilterExpression: { running: true } },
      { key: { keepUntil: 1 }, expireAfterSeconds: 0 },
      ...ofRuns,
    ],
  },
  {
    name: records,
    indexes: [{ key: RESULT_KEY }, { key: { keepUntil: 1 }, expireAfterSeconds: 0 }, ...further],
  },
];

const closes = matching('closes', 'close_records', [
  { key: { waits: 1, dueAt: 1 }, ...where('waits') },
  { key: WAITING_KEY, ...where('waits') },
]);

const statements = matching(
  'statements',
  'statement_records',
  [
    // Enforces that a movement is used by one line of a statement at most.
    { key: { uses: 1, run: 1 }, unique: true, ...where('uses') },
    { key: { breaks: 1, _id: 1 }, ...where('breaks') },
    // Lines whose payment was not known, but may be by now.
    { key: { 'row.reference': 1 }, partialFilterExpression: { result: 'not_in_books' } },
  ],
  [{ key: { rail: 1, requestedAt: -1 } }, { key: { name: 1 }, unique: true, ...where('name') }],
);

/** The collections of the reconciler's database. */
export const reconcilerDatabaseSchema: readonly CollectionSchema[] = [
  polls,
  breaks,
  {
    name: 'decisions',
    indexes: [
      { key: DECISIONS_BY_TIME },
      { key: { status: 1, ...DECISIONS_BY_TIME } },
      { key: { reference: 1, ...DECISIONS_BY_TIME } },
    ],
  },
  { name: 'floats', indexes: [{ key: { rail: 1 } }] },
  { name: 'wallets' },
  { name: 'silent_rails' },
  {
    name: 'runs',
    indexes: [
      { key: { rail: 1, currency: 1, _id: -1 } },
      { key: { at: 1 }, expireAfterSeconds: RUNS_KEPT_S },
    ],
  },
  // Those due of a step, the oldest first.
  { name: 'steps', indexes: [{ key: { step: 1, dueAt: 1, kind: 1 } }] },
  { name: 'step_marks' },
  { name: 'rateLimits' },
  ...closes,
  ...statements,
  { name: 'statement_mappings' },
];
