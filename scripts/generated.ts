import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './command.ts';

/** The text of a file, named from the root of the repository; empty if there is none. */
export const readGenerated = (file: string): string => {
  const absolute = path.join(repositoryRoot, file);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
};

/** Writes the files that differ, and names each; with `--check` it writes nothing, and the exit code is 1 if one differs. */
export function writeGenerated(files: Readonly<Record<string, string>>, script: string): void {
  const isCheck = process.argv.includes('--check');
  for (const [file, text] of Object.entries(files)) {
    if (readGenerated(file) === text) continue;
    if (isCheck) process.exitCode = 1;
    else writeFileSync(path.join(repositoryRoot, file), text);
    const what = isCheck ? `differs from what it is generated from: run npm run ${script}` : 'is written';
    process.stdout.write(`${file} ${what}\n`);
  }
}
