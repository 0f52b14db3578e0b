import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './scripts/slowest-first.ts';

const never = ['**/node_modules/**', 'test/architecture/violations/**'];

/** Projects by what they need: nothing (`unit`), the guards' tools (`architecture`), real daemons (the others). */
export default defineConfig({
  test: {
    allowOnly: false,
    sequence: { sequencer: SlowestFirst },
    // A condition is waited for as long as the test may take: how fast it comes is no matter of a test.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{packages,services}/*/src/**/*.test.ts',
            '{scripts,test/chaos/*,test/cluster/*}/**/*.test.ts',
          ],
          exclude: [...never, '**/*.int.test.ts'],
          // A worker keeps its modules from file to file: loading them anew took two thirds of the time.
          isolate: false,
          // Many files wait for a socket or a process more than they work.
          maxWorkers: 3,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'architecture',
          include: ['test/architecture/*.test.ts'],
          exclude: never,
          testTimeout: 30_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'int',
          setupFiles: ['test/setup.ts'],
          include: ['{packages,services,test}/**/*.int.test.ts'],
          exclude: never,
          // As above.
          isolate: false,
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'scenarios',
          setupFiles: ['test/setup.ts'],
          include: ['test/{scenarios,conformance}/**/*.test.ts', 'test/chaos/*.test.ts'],
          exclude: [...never, '**/*.int.test.ts'],
          // Two whole stacks side by side; a third would be more work than two cores can do in time.
          maxWorkers: 2,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'cluster',
          setupFiles: ['test/setup.ts'],
          include: ['test/cluster/*.test.ts'],
          exclude: never,
          // One worker that keeps its modules: the files share one cluster, one after another.
          maxWorkers: 1,
          isolate: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
