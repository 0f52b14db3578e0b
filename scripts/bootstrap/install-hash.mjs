// Shows whether node_modules still matches the manifests.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { readText } from './read-text.mjs';

/** Directories of the workspace's packages, from the globs of pnpm-workspace.yaml. */
const workspaceDirectories = (root, workspaceText) => {
  const block = /^packages:\n((?:\s+-.*\n)+)/m.exec(workspaceText)?.[1] ?? '';
  const globs = [...block.matchAll(/-\s*['"]?([^'"\s]+)/g)].map((match) => match[1]);
  return globs.flatMap((glob) => {
    if (!glob.endsWith('/*')) return [glob];
    const parent = path.join(root, glob.slice(0, -2));
    return fs.existsSync(parent)
      ? fs
          .readdirSync(parent)
          .sort()
          .map((name) => `${glob.slice(0, -1)}${name}`)
      : [];
  });
};

/** A hash of everything that decides what `pnpm install` puts into node_modules. */
export const installHash = (root) => {
  const workspaceText = readText(path.join(root, 'pnpm-workspace.yaml')) ?? '';
  const manifests = workspaceDirectories(root, workspaceText).map((directory) =>
    path.join(directory, 'package.json'),
  );
  const hash = createHash('sha256').update(root);
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json', ...manifests]) {
    const text = readText(path.join(root, file));
    if (text !== undefined) hash.update(`\0${file}\0${text}`);
  }
  return hash.digest('hex');
};
