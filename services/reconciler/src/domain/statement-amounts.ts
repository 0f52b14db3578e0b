import { groupings, type StatementMapping } from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';

/** How a mapping writes amounts. */
export type AmountForm = Pick<StatementMapping, 'decimal' | 'grouping'>;

/** What programs write for a minus: hyphens, dashes and the mathematical sign. */
const MINUS = /[-\u2010-\u2015\u2212\ufe63\uff0d]/g;
const SPACES = /[\p{Zs}\t]/gu;
/** What a cell has that is not empty, for the usual case. */
const SAYS = /[\p{L}\p{N}]/u;
const UNSEEN = /[\p{Zs}\t\p{Cf}]/gu;
const APOSTROPHES = /['\u2018\u2019\u02bc\u00b4`\u2032]/g;

/** Whether a cell has only what programs write in place of nothing. */
export function isEmptyCell(text: string): boolean {
  if (text === '' || SAYS.test(text)) return text === '';
  return /^[-\u2010-\u2015\u2212]{0,2}$/.test(text.replaceAll(UNSEEN, ''));
}

/** Reads an amount in minor units; brackets and a minus behind it make it negative. Undefined for any other text. */
export function readAmount(text: string, form: AmountForm, currency: string): bigint | undefined {
  const plain = plainDecimal(text, form);
  const amount = plain === undefined ? undefined : parseAmount(plain, currency);
  return amount?.ok ? amount.value.minor : undefined;
}

/**
 * The form by which a text is an amount after all, the nearest to the given one. What would be a decimal point there groups
 * thousands only where the text shows it: `1.005` may be a thousand and five, and must not be taken for it.
 */
export function formOf(
  text: string,
  { decimal: usual }: AmountForm,
  currency: string,
): AmountForm | undefined {
  const isShown = ({ decimal, grouping }: AmountForm) =>
    grouping !== usual || text.includes(decimal) || text.split(grouping).length > 2;
  return [usual, usual === '.' ? (',' as const) : ('.' as const)]
    .flatMap((decimal) => groupings.map((grouping) => ({ decimal, grouping })))
    .filter(({ decimal, grouping }) => grouping !== decimal)
    .find((form) => isShown(form) && readAmount(text, form, currency) !== undefined);
}

/** A decimal text in the kernel's form: without separators, with a point; undefined for any other text. */
function plainDecimal(text: string, { decimal, grouping }: AmountForm): string | undefined {
  const usual = text.replace(MINUS, '-').replace(SPACES, ' ').replace(APOSTROPHES, "'").trim();
  const [, bracketed] = /^\( ?([^()+-]+?) ?\)$/.exec(usual) ?? [];
  const [, before = '', body = '', behind = ''] =
    bracketed === undefined ? (/^([+-]?) ?([^+-]+?) ?(-?)$/.exec(usual) ?? []) : ['', '-', bracketed];
  if (before !== '' && behind !== '') return undefined;
  const [, whole = '', fraction = ''] =
    (decimal === '.' ? /^([^.]+)(?:\.(\d+))?$/ : /^([^,]+)(?:,(\d+))?$/).exec(body) ?? [];
  const groups = grouping === '' ? [whole] : whole.split(grouping);
  const isGrouped =
    groups.length === 1 ||
    groups.every((group, index) => (index === 0 ? /^.{1,3}$/.test(group) : group.length === 3));
  const digits = groups.join('');
  if (!isGrouped || !/^\d{1,24}$/.test(digits)) return undefined;
  const sign = before === '-' || behind === '-' ? '-' : '';
  return `${sign}${digits}${fraction === '' ? '' : `.${fraction}`}`;
}
