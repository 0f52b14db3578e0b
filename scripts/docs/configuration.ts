import { renderTable } from './markdown.ts';

/** The fields that are read of a setting: the part of a zod schema with its meaning and its default. */
export interface Setting {
  readonly description?: string | undefined;
  readonly meta?: () => { readonly isSecret?: unknown } | undefined;
  readonly def: {
    readonly type: string;
    readonly innerType?: Setting;
    readonly in?: Setting;
    readonly defaultValue?: unknown;
  };
}

/** The settings of a service by variable. */
export type Settings = Readonly<Record<string, Setting>>;

const inner = (setting: Setting): Setting | undefined => setting.def.innerType ?? setting.def.in;

/**
 * The meaning of a setting: a description stays with the schema it was given to, and wrappers have none of their own.
 */
export const meaningOf = (setting: Setting): string => {
  if (setting.description !== undefined) return setting.description;
  const within = inner(setting);
  return within === undefined ? '' : meaningOf(within);
};

/** Whether a setting holds a secret, by its schema. */
export const isSecret = (setting: Setting): boolean =>
  setting.meta?.()?.isSecret === true ||
  [setting.def.innerType, setting.def.in].some((within) => within !== undefined && isSecret(within));

const textOf = (value: unknown): string => {
  if (value instanceof Set || Array.isArray(value)) return [...value].map(textOf).join(',');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
};

/** The default of a setting as text; `undefined` if it is optional, `null` if it is required. */
export const defaultTextOf = (setting: Setting): string | null | undefined => {
  const { type, defaultValue } = setting.def;
  if (type === 'default' || type === 'prefault') return textOf(defaultValue);
  if (type === 'optional') return undefined;
  const within = inner(setting);
  return within === undefined ? null : defaultTextOf(within);
};

const defaultOf = (setting: Setting): string => {
  const text = defaultTextOf(setting);
  if (text === null) return '**required**';
  return text === undefined ? 'none' : text === '' ? 'empty' : `\`${text}\``;
};

/** The note that applies to every setting; its link is relative to a service's README. */
const asFiles =
  '\nEach may be given as a file: the variable with `_FILE` holds its path ([connections](../../docs/connections.md)).\n';

/** The configuration table of a service; required settings come first. */
export const renderConfiguration = (settings: Settings): string => {
  const rows = Object.entries(settings).map(([name, setting]) => [
    `\`${name}\``,
    defaultOf(setting),
    meaningOf(setting),
  ]);
  const isRequired = (row: readonly string[]): boolean => row[1] === '**required**';
  const ordered = [...rows.filter(isRequired), ...rows.filter((row) => !isRequired(row))];
  return renderTable(['Variable', 'Default', 'Meaning'], ordered) + asFiles;
};
