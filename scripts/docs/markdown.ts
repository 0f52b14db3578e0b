/** A Markdown table; pipes and line ends in cells are made harmless. */
export const renderTable = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  return [lineOf(heading), `|${' --- |'.repeat(heading.length)}\n`, ...rows.map(lineOf)].join('');
};
