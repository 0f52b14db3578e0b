import { ORDINARY_NUMBER, testNumbers } from '@pesewa/contracts';

/** What the simulator does, by the last four digits of a number. */
export const renderTestNumbers = (): string =>
  [`- others: ${ORDINARY_NUMBER}\n`]
    .concat(Object.entries(testNumbers).map(([digits, words]) => `- \`${digits}\`: ${words}\n`))
    .join('');
