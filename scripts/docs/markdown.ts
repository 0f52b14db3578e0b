/** The document with a text between the markers of a name; undefined if it lacks them. */
export const replaceBlock = (document: string, name: string, text: string): string | undefined => {
  const begin = `<!-- ${name}:begin -->`;
  const from = document.indexOf(begin);
  const to = document.indexOf(`<!-- ${name}:end -->`);
  if (from === -1 || to < from) return undefined;
  return `${document.slice(0, from + begin.length)}\n\n${text}\n${document.slice(to)}`;
};

/** A Markdown table; pipes and line ends in cells are escaped. */
export const renderTable = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  return [lineOf(heading), `|${' --- |'.repeat(heading.length)}\n`, ...rows.map(lineOf)].join('');
};
