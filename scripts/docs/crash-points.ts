import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../command.ts';
import { crashOutcomes } from './crash-outcomes.ts';
import { renderTable } from './markdown.ts';

/** The sources of all packages and services, without tests and test fixtures; a package's have no service. */
const readSources = () =>
  ['packages', 'services'].flatMap((kind) =>
    readdirSync(path.join(repositoryRoot, kind)).flatMap((name) => {
      const directory = path.join(repositoryRoot, kind, name, 'src');
      return readdirSync(directory, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$|(^|\/)fixtures\//.test(file))
        .map((file) => ({
          service: kind === 'services' ? name : undefined,
          text: readFileSync(path.join(directory, file), 'utf8'),
        }));
    }),
  );

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

/** The table of what a crash leaves behind at each point; a point without an outcome has empty cells. */
export const renderCrashPoints = (): string => {
  const names = findCrashPoints().map((point) =>
    point.replace(/^[^/]+\//, '').replace(/^[a-z-]+\.batch\./, '<service>.batch.'),
  );
  const byOutcome = Map.groupBy(new Set(names), (name) =>
    crashOutcomes.find(({ points }) => points.test(name)),
  );
  const rows = [...crashOutcomes, undefined].flatMap((outcome) => {
    const points = byOutcome.get(outcome)?.map((name) => `\`${name}\``);
    return points ? [[points.join(', '), outcome?.left ?? '', outcome?.next ?? '']] : [];
  });
  return renderTable(['crash point', 'left behind', 'who continues'], rows);
};
