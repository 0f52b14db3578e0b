import type { FeeBody } from '@pesewa/contracts';
import { amountProblem, formatAmount, parseAmount } from '@pesewa/kernel';
import { CliError } from './errors.ts';

const PERCENT = /^(\d{1,3})(?:\.(\d{1,2}))?%?$/;
const BASIS_POINTS_MAX = 10_000n;

/** How a fee is written on the command line, for help texts. */
const feeForm = '1.5% or percent=1.5,fixed=0.50,min=0.10,max=100';

/**
 * Reads a fee: only a percentage, or `percent`, `fixed`, `min` and `max` separated by commas, with amounts in the
 * currency's major unit. `field` is the option's name for error messages.
 */
export function readFee(field: string, text: string, currency: string): FeeBody {
  const parts = new Map<string, string>();
  for (const part of text.split(',')) {
    const [name = '', value] = part.includes('=') ? part.split('=', 2) : ['percent', part];
    if (
      !['percent', 'fixed', 'min', 'max'].includes(name.trim()) ||
      value === undefined ||
      parts.has(name.trim())
    ) {
      throw new CliError(`${field}: ${part.trim()} is no part of a fee: write ${feeForm}`);
    }
    parts.set(name.trim(), value.trim());
  }
  const percent = readPercent(field, parts.get('percent') ?? '0');
  const amounts = (['fixed', 'min', 'max'] as const).flatMap((name) => {
    const value = parts.get(name);
    return value === undefined ? [] : [[name, readAmount(`${field} ${name}`, value, currency)] as const];
  });
  return { percent, ...Object.fromEntries(amounts) };
}

/** Reads an amount in major units, as its decimal text; zero is allowed, a negative amount is not. */
export function readAmount(field: string, text: string, currency: string): string {
  const amount = parseAmount(text, currency);
  if (!amount.ok) throw new CliError(`${field}: ${text} ${amountProblem(amount.refusal, currency)}`);
  if (amount.value.minor < 0n) throw new CliError(`${field}: ${text} must not be negative`);
  return formatAmount(amount.value.minor, currency);
}

function readPercent(field: string, text: string): string {
  const match = PERCENT.exec(text);
  const points = match && BigInt(`${match[1]}${(match[2] ?? '').padEnd(2, '0')}`);
  if (points === null || points > BASIS_POINTS_MAX) {
    throw new CliError(`${field}: ${text} is no percentage: write 0 to 100 with at most two decimals`);
  }
  return text.replace('%', '');
}
