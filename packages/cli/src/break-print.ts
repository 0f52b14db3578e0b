import { type BreakView, breakColumns, formatCsv, type WholeBreakView } from '@pesewa/contracts';
import { pendingOf } from './clients/breaks.ts';
import { formatTable } from './print.ts';

/** A break in one line. */
export function breakSummary(found: BreakView): string {
  const { id, status, owner, resolution, explanation } = found;
  const whose = owner === null ? '' : `, ${owner} has it`;
  const why = resolution ?? explanation;
  return `${status} ${id}: ${amountOf(found)}${found.detail}${whose}${why === null ? '' : `; ${why}`}\n`;
}

function amountOf({ amount, currency }: BreakView): string {
  return amount === null ? '' : `${amount} ${currency ?? ''}, `;
}

/** Breaks as a table. */
export function breaksTable(found: readonly BreakView[], colours: boolean): string {
  return formatTable(
    ['BREAK', 'STATUS', 'AMOUNT', 'CURRENCY', 'RAIL', 'OWNER', 'SINCE', 'DETAIL'],
    found.map(({ id, status, amount, currency, rail, owner, since, detail }) => [
      id,
      status,
      amount,
      currency,
      rail,
      owner,
      since,
      detail,
    ]),
    { colours, empty: 'no such breaks', right: ['AMOUNT'] },
  );
}

/** Breaks as CSV, in the columns of the reconciler's own export. */
export function breaksCsv(found: readonly BreakView[]): string {
  return formatCsv(
    breakColumns,
    found.map((one) => breakColumns.map((column) => String(one[column] ?? ''))),
  );
}

/** A break with its history, and where to find more about it. */
export function breakDetails(found: WholeBreakView): string {
  const { currency, amount, resolvedAt, resolvedBy } = found;
  const pending = pendingOf(found);
  const lines: readonly (readonly [string, string | null])[] = [
    ['break', found.id],
    ['status', found.status],
    ['kind', found.kind],
    ['about', found.reference],
    ['rail', found.rail],
    ['amount', amount === null ? null : `${amount} ${currency ?? ''}`],
    ['differs', found.detail],
    ['opened', found.openedAt],
    ['since', found.since === found.openedAt ? null : found.since],
    ['owner', found.owner],
    ['explanation', found.explanation],
    ['resolved', resolvedAt && `${resolvedAt} by ${resolvedBy ?? 'itself'}: ${found.resolution ?? '?'}`],
    [
      'waits for',
      pending ? `the order ${pending.commandId}: see pesewa orders show ${pending.commandId}` : null,
    ],
  ];
  const shown = lines.filter(([, value]) => value !== null);
  const history = found.history.map(({ at, by, what, text, amount: then }) => {
    const sum = then === null ? '' : ` ${then} ${currency ?? ''}`;
    return `  ${at}  ${what}${by === null ? '' : ` by ${by}`}${sum}${text === null ? '' : `: ${text}`}\n`;
  });
  const links = found.links.map(({ service, path }) => `  ${service} ${path}\n`);
  const fields = shown.map(([name, value]) => `${name.padEnd(13)}${value ?? ''}\n`);
  return [...fields, '\nhistory\n', ...history, '\nmore\n', ...links].join('');
}
