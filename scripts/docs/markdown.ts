/** The document with a text between the markers of a name. Throws an Error if it lacks them. */
export const replaceBlock = (document: string, name: string, text: string, file = 'it'): string => {
  const [begin, end] = [`<!-- ${name}:begin -->`, `<!-- ${name}:end -->`];
  const [before = ''] = document.split(begin, 1);
  const rest = document.slice(before.length + begin.length);
  if (!rest.includes(end)) throw new Error(`${file} lacks the lines ${begin} and ${end}`);
  return `${before}${begin}\n\n${text}\n${rest.slice(rest.indexOf(end))}`;
};

/** A Markdown table; pipes and line ends in cells are escaped. */
export const renderTable = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const lineOf = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
  return [lineOf(heading), `|${' --- |'.repeat(heading.length)}\n`, ...rows.map(lineOf)].join('');
};
