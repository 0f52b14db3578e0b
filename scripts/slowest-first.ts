import {
  BaseSequencer,
  type TestSequencer,
  type TestSequencerConstructor,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';

/** Files that take long, the longest first. The last file to start should be a short one. */
const slowest: readonly string[] = [
  'test/scenarios/crash-collections.test.ts',
  'test/scenarios/crash.test.ts',
  'test/scenarios/collection-replicas.test.ts',
  'test/scenarios/database-restored.test.ts',
  'test/scenarios/crash-reconciler.test.ts',
  'test/scenarios/rolling-restart.test.ts',
  'test/chaos/chaos.test.ts',
  'test/conformance/payout-api.test.ts',
  'test/conformance/collection-api.test.ts',
  'test/conformance/ingress-api.test.ts',
  'test/scenarios/collection-digits.test.ts',
  'test/scenarios/callbacks-off.test.ts',
  'packages/messaging/src/outbox/kafka-away.int.test.ts',
  'services/ledger/src/audit.int.test.ts',
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = slowest.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? slowest.length : place;
};

/** Vitest's own order (what failed before, what took long before, large files), but with the known slow files in front. */
function createSlowestFirst(vitest: Vitest): TestSequencer {
  const usual = new BaseSequencer(vitest);
  return {
    shard: (files) => usual.shard(files),
    sort: async (files) => (await usual.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b)),
  };
}

/** The sequencer of all projects: vitest calls it with `new`, for which a function that returns an object does. */
export const SlowestFirst = createSlowestFirst as unknown as TestSequencerConstructor;
