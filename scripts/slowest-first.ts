import {
  BaseSequencer,
  type TestSequencer,
  type TestSequencerConstructor,
  type TestSpecification,
  type Vitest,
} from 'vitest/node';
import { presubmitScenarios } from './presubmit.ts';

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = presubmitScenarios.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? presubmitScenarios.length : place;
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
