import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';

const LONGEST = 5;

/** How long a file of tests took, with what it does before and after them. */
interface Took {
  readonly file: string;
  readonly seconds: number;
}

/** The files that took longest, one line each, the longest first; nothing where none took a second. */
export const describeLongest = (files: readonly Took[]): string => {
  const lines = files
    .filter(({ seconds }) => seconds > 0)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, LONGEST)
    .map(({ file, seconds }) => `${String(seconds).padStart(5)} s  ${file}\n`);
  return lines.length === 0 ? '' : `took longest:\n${lines.join('')}`;
};

/**
 * A reporter of vitest that prints at the end which files took longest, and writes what went wrong outside of all tests, which
 * no report of vitest contains, to the file in `PESEWA_UNHANDLED_ERRORS`.
 */
export default function createReporter(): Reporter {
  const files: Took[] = [];
  return {
    onTestModuleEnd: (module) => {
      const seconds = Math.round(module.diagnostic().duration / 1_000);
      files.push({ file: module.relativeModuleId, seconds });
    },
    onTestRunEnd: (_modules, unhandledErrors) => {
      process.stdout.write(describeLongest(files));
      const file = process.env['PESEWA_UNHANDLED_ERRORS'];
      if (file === undefined || unhandledErrors.length === 0) return;
      writeFileSync(file, JSON.stringify(unhandledErrors.map(({ message }) => message)));
    },
  };
}
