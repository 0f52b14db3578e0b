import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../command.ts';
import type { Setting, Settings } from './configuration.ts';

/** Names of all services, by their directories. */
export const serviceNames = (): readonly string[] =>
  readdirSync(path.join(repositoryRoot, 'services'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();

const isRecord = (value: unknown): value is Record<string, unknown> =>
  (typeof value === 'object' || typeof value === 'function') && value !== null;

/** The object schema inside transforms; undefined if there is none. */
const shapeOf = (schema: unknown): Settings | undefined => {
  if (!isRecord(schema)) return undefined;
  // The shape of a zod object contains its fields' schemas, all of which have the form of Setting.
  if (isRecord(schema['shape'])) return schema['shape'] as Record<string, Setting>;
  return isRecord(schema['def']) ? shapeOf(schema['def']['in']) : undefined;
};

/** The settings that a service's `config.ts` exports, loaded at run time because no package may import a service. */
export const loadSettings = async (service: string): Promise<Settings | undefined> => {
  const file = path.join(repositoryRoot, 'services', service, 'src', 'config.ts');
  const loaded: unknown = await import(pathToFileURL(file).href);
  return isRecord(loaded) ? shapeOf(loaded['settings'] ?? loaded['configSchema']) : undefined;
};
