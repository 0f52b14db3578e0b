import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The fields that are read of a `package.json`. */
export interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** What is deployed: every service, all in one process, and the command line. */
export const deployables = (root: string): readonly string[] => [
  ...readdirSync(path.join(root, 'services')).sort(),
  'cli',
  'compact',
];

/** The manifests of all packages and services of the workspace, by name. */
export const readManifests = (root: string): ReadonlyMap<string, Manifest> => {
  const manifests = ['packages', 'services'].flatMap((folder) =>
    readdirSync(path.join(root, folder)).map((directory) => {
      const file = path.join(root, folder, directory, 'package.json');
      return JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    }),
  );
  return new Map(manifests.map((manifest) => [manifest.name, manifest]));
};

/**
 * All packages that a package needs in production, itself and third-party ones included; the latter are not followed.
 */
export const neededBy = (manifests: ReadonlyMap<string, Manifest>, name: string): ReadonlySet<string> => {
  const needed = new Set([name]);
  // Iterating a set also visits what is added meanwhile.
  for (const each of needed) {
    for (const dependency of Object.keys(manifests.get(each)?.dependencies ?? {})) needed.add(dependency);
  }
  return needed;
};
