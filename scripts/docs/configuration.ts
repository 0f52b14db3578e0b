import { renderTable } from './markdown.ts';
import type { Settings } from './settings.ts';

const describeDefault = (text: string | null | undefined): string => {
  if (text === null) return '**required**';
  return text === undefined ? 'none' : text === '' ? 'empty' : `\`${text}\``;
};

/** From how many services on a setting is explained on the page of common settings. */
const COMMON_MIN = 3;

const rowsOf = (settings: Settings): readonly (readonly string[])[] => {
  const rows = Object.entries(settings).map(([name, { default: text, meaning }]) => [
    `\`${name}\``,
    describeDefault(text),
    meaning,
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

/** The settings that many services have, in a table for each group of services. */
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
  return tables.join('\n');
};

/** The table of a service's own settings, required ones first, with a link to those that many services have. */
export const renderConfiguration = (settings: Settings, common: CommonSettings = new Map()): string => {
  const own = rowsOf(settings).filter((row) => !common.has(textOfRow(row)));
  const shared = Object.keys(settings).length - own.length;
  const others = `\n[${shared} more](../../docs/settings.md) are shared.\n`;
  return `${renderTable(['Variable', 'Default', 'Meaning'], own)}${shared > 0 ? others : ''}`;
};
