import { renderTable, replaceBlock } from './markdown.ts';

/** What is read of one setting: the part of a zod schema that tells its meaning and its default. */
export interface Setting {
  readonly description?: string | undefined;
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

/** A description is kept by the schema it was given to: what wraps that schema has none of its own. */
const meaningOf = (setting: Setting): string => {
  if (setting.description !== undefined) return setting.description;
  const within = inner(setting);
  return within === undefined ? '' : meaningOf(within);
};

const textOf = (value: unknown): string => {
  if (value instanceof Set || Array.isArray(value)) return [...value].map(textOf).join(',');
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
};

const defaultOf = (setting: Setting): string => {
  const { type, defaultValue } = setting.def;
  if (type === 'default' || type === 'prefault') {
    const text = textOf(defaultValue);
    return text === '' ? 'empty' : `\`${text}\``;
  }
  if (type === 'optional') return 'none';
  const within = inner(setting);
  return within === undefined ? '**required**' : defaultOf(within);
};

/** What goes for every setting; the link is that of a service's README. */
const asFiles =
  '\nEach may be given as a file: the variable with `_FILE` holds its path ([connections](../../docs/connections.md)).\n';

/** The configuration table of a service; what is required comes first. */
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

/** The document with the table between its markers, or nothing where it has no markers. */
export const replaceConfiguration = (document: string, table: string): string | undefined =>
  replaceBlock(document, 'configuration', table);
