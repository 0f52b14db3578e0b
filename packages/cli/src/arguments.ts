import { countryCode, currencyCode, firstProblem, isCommandId, reference, seenLine } from '@pesewa/contracts';
import { amountProblem, formatAmount, parsePositiveAmount } from '@pesewa/kernel';
import { startOfDay, UTC } from '@pesewa/operator-client';
import { type Command, Option } from 'commander';
import { CliError } from './errors.ts';
import type { CliPorts } from './ports.ts';

/** Adds a value of an option that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** The option by which an approver carries out what an operator has proposed. */
export const approveOption = (what: string) =>
  new Option('--approve <operator>', `${what}, as this operator has proposed`);

/** The option that names what an approver has read, by a mark that is printed with it. */
export const seenOption = (mark: string) =>
  new Option('--seen <mark>', `what you have read and approve, by ${mark}: nothing else is approved`);

/** Refuses an approval that does not name what was read; what is shown has the command that does. */
export function refuseUnseen({ print }: Pick<CliPorts, 'print'>, shown: string): never {
  print(shown);
  throw new CliError(
    '--seen: nothing was approved: read what is proposed now, then approve it by the command that is printed with it',
  );
}

/** Reads the mark of {@link seenOption} that is a time. */
export const readSeenTime = (mark: string): string => readTime('--seen', mark).toISOString();

/** Reads a currency, in any case. */
export function readCurrency(field: string, text: string): string {
  const currency = currencyCode(text);
  if (currency === undefined)
    throw new CliError(`${field}: ${text} is no currency: write an ISO 4217 code such as GHS`);
  return currency;
}

/** Reads a country by name or code, as its three letters. */
export function readCountry(field: string, text: string): string {
  const country = countryCode(text);
  if (country === undefined)
    throw new CliError(`${field}: ${text} is no country: write a name or an ISO 3166 code such as GHA`);
  return country;
}

/** An amount without the commas that group its digits in threes; other uses of commas or spaces are ambiguous. */
function ungrouped(field: string, text: string): string {
  if (/^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) return text.replaceAll(',', '');
  if (!/^[+-]?[\d., '_]*[, '_][\d., '_]*$/.test(text)) return text;
  throw new CliError(
    `${field}: ${text} is ambiguous: write the decimals after a point, and commas, if any, before each three digits, such as 2500.00 or 2,500.00`,
  );
}

/** Reads a positive amount in major units; gives minor units and their plain decimal text: `1e3` is `1000`. */
export function readPositiveAmount(field: string, written: string, currency: string): SignedAmount {
  const amount = parsePositiveAmount(ungrouped(field, written), currency);
  if (!amount.ok) throw new CliError(`${field}: ${written} ${amountProblem(amount.refusal, currency)}`);
  const { minor } = amount.value;
  return { minor, text: formatAmount(minor, currency) };
}

/** Reads the id for an order or a decision. */
export function readCommandId(text: string | undefined): string | undefined {
  if (text === undefined || isCommandId(text)) return text;
  throw new CliError(
    '--command-id: write 1 to 64 letters, digits, dots, underscores, colons or hyphens, not beginning with po- or co-',
  );
}

/** Reads the reference of a payment. */
export function readReference(field: string, text: string): string {
  const parsed = reference.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new CliError(`${field}: ${firstProblem(parsed.error).message}`);
}

/** Splits `left:right`, both present. */
export function readPair(field: string, text: string, form: string): readonly [string, string] {
  const [left, right, ...more] = text.split(':');
  if (left && right && more.length === 0) return [left, right];
  throw new CliError(`${field}: ${text} is malformed: write ${form}`);
}

/** Reads a whole number of at least one. */
export function readCount(field: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CliError(`${field}: ${text} is no count: write a whole number from 1`);
}

/** A signed amount in minor units, and its decimal text without the sign. */
export interface SignedAmount {
  readonly minor: bigint;
  readonly text: string;
}

/** Reads `+12.50` or `-12.50`; the sign is required, because it decides where the money goes. */
export function readSignedAmount(field: string, written: string, currency: string): SignedAmount {
  if (!/^[+-]/.test(written))
    throw new CliError(`${field}: ${written} says no direction: write + or - before it, such as +12.50`);
  const { minor, text } = readPositiveAmount(field, written.slice(1), currency);
  return { minor: written.startsWith('-') ? -minor : minor, text };
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Reads a date as its midnight, UTC; undefined for a text that is no date of the calendar. */
export function readDay(text: string): Date | undefined {
  const midnight = new Date(`${text}T00:00:00Z`);
  // Without this check the 30th of February would become a day in March.
  const isReal =
    DATE.test(text) && !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
  return isReal ? midnight : undefined;
}

/** Reads a time as ISO 8601 with its zone, such as `2026-11-01T08:00:00Z`, or a date, which is its beginning in the zone. */
export function readTime(field: string, text: string, zone = UTC): Date {
  const [, date] = TIME.exec(text) ?? [];
  const time = date === undefined ? readDay(text) && startOfDay(text, zone) : readDay(date) && new Date(text);
  if (time && !Number.isNaN(time.getTime())) return time;
  throw new CliError(`${field}: ${text} is no time: write 2026-11-01 or 2026-11-01T08:00:00Z`);
}

/** Reads one line of text for people, at most `lengthMax` characters. */
export function readLine(field: string, text: string, lengthMax: number): string {
  const parsed = seenLine(lengthMax).safeParse(text);
  if (parsed.success) return parsed.data;
  throw new CliError(`${field}: ${firstProblem(parsed.error).message}`);
}

/** Adds the options of every list. */
export function asList(command: Command): Command {
  return command.option('--limit <count>', 'how many at most', '50').option('--json', 'print JSON');
}

/** The option of a file's format; {@link formatOf} reads it. */
export const formatOption = () =>
  new Option('--format <format>', 'of the file (default: by its ending, else csv)').choices(['csv', 'json']);

/** The format of a file: the given one, else that of its name. */
export function formatOf(file: string, given: 'csv' | 'json' | undefined): 'csv' | 'json' {
  return given ?? (file.toLowerCase().endsWith('.json') ? 'json' : 'csv');
}

/** The options of a command that may write its result to a file. */
export interface FileOptions {
  readonly dryRun?: boolean;
  readonly export?: string;
  readonly format?: 'csv' | 'json';
}

/** Options of a file are refused if nothing is written to it, because they would be ignored. */
export function checkFile({ dryRun, export: file, format }: FileOptions): void {
  if (dryRun && file !== undefined)
    throw new CliError('--export: a dry run leaves nothing to export: leave out one of the two');
  if (format !== undefined && file === undefined)
    throw new CliError('--format: it is that of a file: name one with --export, or leave it out');
}

/** Refuses a period that does not end after its beginning; both are named as they were written. */
export function requireBefore(start: Date, end: Date, from = '', to = ''): void {
  if (start.getTime() < end.getTime()) return;
  throw new CliError(`--from: ${from} is not before ${to}: write an earlier one, or a later --to`);
}
