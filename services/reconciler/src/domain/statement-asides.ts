import type { StatementMapping } from '@pesewa/contracts';
import { isEmptyCell } from './statement-amounts.ts';
import { fold, ownReferencesIn } from './statement-cells.ts';
import type { Layout } from './statement-heading.ts';
import { createRowReader, type ReadLine } from './statement-rows.ts';

/** What totals and balances are called, folded. */
const TOTAL =
  /^(?:(?:grand|sub|sous|page|daily)[- ]?)?(?:totals?|totaux|sum|somme)(?![\p{L}\p{N}])|^(?:(?:opening|closing|ending|available|final) )?balance(?![\p{L}\p{N}])|^solde(?![\p{L}\p{N}])|^(?:brought|carried) forward|^end of (?:report|statement|file)/u;

/** Builds the reader of lines: rows, lines that are set aside, and lines that can't be read. */
export function createLineReader(
  mapping: StatementMapping,
  layout: Layout,
  currency: string | null,
): (cells: readonly string[]) => ReadLine {
  const isAside = createAsides(mapping, layout);
  const read = createRowReader(mapping, layout, currency);
  return (cells) => (isAside(cells) ? { aside: true } : totalIn(cells, read(cells), layout));
}

/** Builds the test whether the mapping sets a line aside; one that names a payment, or may be a movement, never is. */
function createAsides(
  { setAside = [] }: StatementMapping,
  layout: Layout,
): (cells: readonly string[]) => boolean {
  const words = setAside.map(fold);
  return (cells) => {
    if (words.length === 0) return false;
    const found = words.some((word) =>
      word === '' ? isBare(cells, layout) : isTitled(cells, layout, word) && !isMovement(cells, layout, word),
    );
    return found && ownReferencesIn(cells.join(' ')).length === 0;
  };
}

/** Whether a line has nothing but amounts, and neither a reference of the rail nor a time that could be one. */
function isBare(cells: readonly string[], { places }: Layout): boolean {
  const isEmpty = (place: number | undefined) => place === undefined || isEmptyCell(cells[place] ?? '');
  return isEmpty(places.get('railReference')) && isEmpty(places.get('time')) && isAmountsOnly(cells);
}

function isTitled(cells: readonly string[], layout: Layout, word: string): boolean {
  return titlesOf(cells, layout).some((text) => beginsWith(text, word));
}

/** Whether a line has the rail's reference of a movement, and its time if the file has times: Total is a company too. */
function isMovement(cells: readonly string[], { places }: Layout, word: string): boolean {
  const isGiven = (place: number) =>
    !isEmptyCell(cells[place] ?? '') && !beginsWith(fold(cells[place] ?? ''), word);
  const [railReference, time] = [places.get('railReference'), places.get('time')];
  return railReference !== undefined && isGiven(railReference) && (time === undefined || isGiven(time));
}

/** Where a line may say that it is no movement: its first text, or any if the rail gave it no reference. */
function titlesOf(cells: readonly string[], { places }: Layout): readonly string[] {
  const railReference = places.get('railReference');
  const isNameless = railReference !== undefined && isEmptyCell(cells[railReference] ?? '');
  const texts = cells.map(fold).filter((text) => text !== '');
  return isNameless ? texts : texts.slice(0, 1);
}

/**
 * Why a line is not read that names no payment and looks like a total: as a movement it would be money that nobody can
 * explain.
 */
function totalIn(cells: readonly string[], read: ReadLine, layout: Layout): ReadLine {
  const isNamed = layout.places.has('railReference');
  if ('aside' in read) return read;
  if ('row' in read) {
    const { reference, railReference, atMs } = read.row;
    if (reference !== null || railReference !== null || (atMs !== null && !isNamed)) return read;
  }
  if (ownReferencesIn(cells.join(' ')).length > 0) return read;
  const [word] = titlesOf(cells, layout).flatMap((text) => TOTAL.exec(text)?.[0] ?? []);
  if (word !== undefined) return aside(word, 'looks like a total or a balance');
  const mayMove = !('row' in read) || read.row.atMs !== null || !(isNamed || layout.places.has('time'));
  return !mayMove && isAmountsOnly(cells) ? aside('', 'has nothing but amounts, as a total does') : read;
}

function aside(word: string, why: string): ReadLine {
  return {
    unreadable: `the line ${why}: "setAside": [${JSON.stringify(word)}] sets it aside`,
    options: { setAside: [word] },
  };
}

function isAmountsOnly(cells: readonly string[]): boolean {
  const texts = cells.map(fold).filter((text) => text !== '');
  return (
    texts.length > 0 && texts.every((text) => isEmptyCell(text) || (AMOUNT.test(text) && /\d/.test(text)))
  );
}

/** What an amount in any form is made of, perhaps with a currency. */
const AMOUNT = /^(?:\p{L}{2,4} )?[-+(\u2212\u2013]?[\d.,' ]{1,40}[-)]?(?: \p{L}{2,4})?$/u;

function beginsWith(text: string, word: string): boolean {
  return text.startsWith(word) && !/^[\p{L}\p{N}]/u.test(text.slice(word.length));
}
