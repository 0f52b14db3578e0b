import path from 'node:path';
import { z } from 'zod';
import { repositoryRoot } from '../command.ts';

/** A setting as its schema describes it. */
export interface Setting {
  readonly meaning: string;
  readonly isSecret: boolean;
  /** As text; undefined if the setting is optional, null if it is required. */
  readonly default: string | null | undefined;
}

/** The settings of a service by variable. */
export type Settings = Readonly<Record<string, Setting>>;

const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** The settings in a schema of an environment. */
export function settingsOf(schema: z.ZodType): Settings {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    // By itself it leaves out the default of what is transformed.
    override: ({ zodSchema: { _zod: inner }, jsonSchema }) => {
      if ('defaultValue' in inner.def) jsonSchema.default = textOf(inner.def.defaultValue);
    },
  });
  const settings = Object.entries(properties as Readonly<Record<string, z.core.JSONSchema.BaseSchema>>);
  return Object.fromEntries(
    settings.map(([name, { description = '', isSecret = false, default: text }]) => [
      name,
      {
        meaning: description,
        isSecret: isSecret === true,
        default: required.includes(name) ? null : (text as string | undefined),
      },
    ]),
  );
}

/** A module of a service, loaded at run time because no package may import a service; the caller knows its exports. */
export const loadModule = async <Exports>(service: string, file: string): Promise<Exports> =>
  (await import(path.join(repositoryRoot, 'services', service, 'src', file))) as Exports;

/** The settings that a service's `config.ts` exports. */
export const loadSettings = async (service: string): Promise<Settings> => {
  const { settings } = await loadModule<{ readonly settings: z.ZodType }>(service, 'config.ts');
  return settingsOf(settings);
};
