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

/** From how many services on a setting is explained on the page of common settings. */
const COMMON_MIN = 3;

const rowsOf = (settings: Settings): readonly (readonly string[])[] => {
  const rows = Object.entries(settings).map(([name, setting]) => [
    `\`${name}\``,
    defaultOf(setting),
    meaningOf(setting),
  ]);
  const isRequired = (row: readonly string[]): boolean => row[1] === '**required**';
  return [...rows.filter(isRequired), ...rows.filter((row) => !isRequired(row))];
};

const textOfRow = (row: readonly string[]): string => row.join('|');

/** Settings that many services have with the same default and meaning: each row of the table, and who has it. */
export type CommonSettings = ReadonlyMap<
  string,
  { readonly row: readonly string[]; readonly services: readonly string[] }
>;

/** Finds what services have in common. */
export const commonSettingsOf = (all: ReadonlyMap<string, Settings>): CommonSettings => {
  const rows = [...all].flatMap(([service, settings]) => rowsOf(settings).map((row) => ({ service, row })));
  const groups = [...Map.groupBy(rows, ({ row }) => textOfRow(row))].map(([text, same]) => {
    const [{ row }] = same as [(typeof same)[number]];
    return [text, { row, services: same.map(({ service }) => service) }] as const;
  });
  return new Map(groups.filter(([, { services }]) => services.length >= COMMON_MIN));
};

/** The page of the settings that many services have. */
export const renderCommonSettings = (common: CommonSettings, services: readonly string[]): string => {
  const whose = (having: readonly string[]) => {
    if (having.length === services.length) return 'All services';
    const without = services.filter((service) => !having.includes(service));
    return without.length < having.length ? `All but ${without.join(', ')}` : having.join(', ');
  };
  const groups = Map.groupBy(common.values(), ({ services: having }) => whose(having));
  const tables = [...groups].map(([group, having]) => {
    const rows = having.map(({ row }) => row);
    return `## ${group}\n\n${renderTable(['Variable', 'Default', 'Meaning'], rows)}`;
  });
  return `# Settings of many services

Generated from each service's \`config.ts\` by \`npm run docs\`. A service's README has its own settings.
Each may be given as a file: the variable with \`_FILE\` holds its path ([connections](connections.md)).

${tables.join('\n')}`;
};

/** The table of a service's own settings, required ones first, with a link to those that many services have. */
export const renderConfiguration = (settings: Settings, common: CommonSettings = new Map()): string => {
  const own = rowsOf(settings).filter((row) => !common.has(textOfRow(row)));
  const shared = Object.keys(settings).length - own.length;
  const others = `\n[${shared} more](../../docs/settings.md) are shared.\n`;
  return `${renderTable(['Variable', 'Default', 'Meaning'], own)}${shared > 0 ? others : ''}`;
};
