import { readdirSync } from 'node:fs';
import path from 'node:path';

const ignoredNames = new Set(['node_modules', '.git', '.pesewa', '.turbo', 'coverage']);
const ignoredPaths = new Set(['test/architecture/violations', 'docs/api']);

/** Paths of all files under a directory, relative to it with `/`, without generated and fetched ones. */
export const listSourceFiles = (root: string, directory = ''): readonly string[] =>
  readdirSync(path.join(root, directory), { withFileTypes: true }).flatMap((entry) => {
    const relative = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (ignoredNames.has(entry.name) || ignoredPaths.has(relative)) return [];
    if (entry.isDirectory()) return listSourceFiles(root, relative);
    return entry.isFile() ? [relative] : [];
  });
