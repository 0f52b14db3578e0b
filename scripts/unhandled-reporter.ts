import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

/**
 * A reporter of vitest that writes what went wrong outside of all tests, which no report of vitest contains, to the file in
 * `PESEWA_UNHANDLED_ERRORS`.
 */
export default function createReporter(): Reporter {
  return {
    onTestRunEnd: (_modules, unhandledErrors) => {
      const file = process.env['PESEWA_UNHANDLED_ERRORS'];
      if (file === undefined || unhandledErrors.length === 0) return;
      writeFileSync(file, JSON.stringify(unhandledErrors.map(({ message }) => message)));
    },
  };
}
