import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '@pesewa/scripts/command';

/** The sources of all packages and services, without tests and test fixtures; a package's have no service. */
const readSources = () =>
  globSync('{packages,services}/*/src/**/*.ts', { cwd: repositoryRoot })
    .filter((file) => !/\.(test|fixture)\.ts$|\/fixtures\//.test(file))
    .map((file) => ({
      service: /^services\/([^/]+)/.exec(file)?.[1],
      text: readFileSync(path.join(repositoryRoot, file), 'utf8'),
    }));

/** A group commit by its name, and commits of one item at a time, which are group commits too. */
const COMMITS = /(?:\.groupCommit(?:<[\s\S]{0,200}?>)?\(|\bcommitEach\(\s*[\w.]+,)\s*'([^']+)'/g;

const both = (name: string): readonly string[] => [`${name}.before-commit`, `${name}.after-commit`];

/** The crash points in a source: named ones, those of group commits and those of consumers. */
const pointsIn = ({ service, text }: ReturnType<typeof readSources>[number]): readonly string[] => [
  ...[...text.matchAll(/crashPoint\(\s*'([^']+)'/g)].map(([, name = '']) => name),
  ...[...text.matchAll(COMMITS)].flatMap(([, name = '']) => both(name)),
  ...(service !== undefined && /\bmessaging\.consume\(/.test(text) ? both(`${service}.batch`) : []),
];

/** Every crash point in the code, as `service/point`; a package's point counts for each service that sends messages. */
export const findCrashPoints = (): readonly string[] => {
  const sources = readSources();
  const senders = sources.flatMap(({ service, text }) =>
    service !== undefined && text.includes('openMessaging(') ? [service] : [],
  );
  const found = sources.flatMap((source) =>
    pointsIn(source).flatMap((point) =>
      (source.service === undefined ? senders : [source.service]).map((service) => `${service}/${point}`),
    ),
  );
  return [...new Set(found)].toSorted();
};
