import { type BreakView, breakColumns, formatCsv, type ShownBreakView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { inWords } from '@pesewa/operator-client';
import { namedLines } from './views.ts';

/** A break in one line. */
export function breakSummary(found: BreakView): string {
  const { id, status, owner, resolution, explanation } = found;
  const whose = owner === null ? '' : `, ${owner} has it`;
  const why = resolution ?? explanation;
  return `${status} ${id}: ${amountOf(found)}${found.detail}${whose}${why === null ? '' : `; ${why}`}\n`;
}

function amountOf({ amount, currency }: BreakView): string {
  return amount === null ? '' : `${displayAmount(amount, currency ?? '')}, `;
}

/** Breaks as CSV, in the columns of the reconciler's own export. */
export function breaksCsv(found: readonly BreakView[]): string {
  return formatCsv(
    breakColumns,
    found.map((one) => breakColumns.map((column) => String(one[column] ?? ''))),
  );
}

/** A break with what both sides have, its history, and where to find more about it. */
export function breakDetails(found: ShownBreakView): string {
  const { currency, amount, resolvedAt, resolvedBy, ours, theirs, proposedResolution: proposed } = found;
  const side = (value: string | null) =>
    value !== null && /^-?\d/.test(value) && currency !== null
      ? displayAmount(value, currency)
      : value && inWords(value);
  const fields = namedLines([
    ['break', found.id],
    ['status', found.status],
    ['kind', inWords(found.kind)],
    ['about', found.reference],
    ['rail', found.rail],
    ['ours', side(ours)],
    ['theirs', side(theirs)],
    ['difference', amount && displayAmount(amount, currency ?? '', 'exceptZero')],
    ['differs', found.detail],
    ...found.lines.map(
      ({ statement, line, receipt }) =>
        [
          'found in',
          `statement ${statement}${line === null ? '' : `, line ${line}`}${receipt === null ? '' : `, receipt ${receipt}`}`,
        ] as const,
    ),
    ['to book it', bookingOf(found)],
    ['opened', found.openedAt],
    ['since', found.since === found.openedAt ? null : found.since],
    ['owner', found.owner],
    ['explanation', found.explanation],
    ['resolved', resolvedAt && `${resolvedAt} by ${resolvedBy ?? 'itself'}: ${found.resolution ?? '?'}`],
    [
      'waits for',
      proposed === undefined
        ? null
        : `an approver, because it is of so much money: ${proposed.by} would resolve it since ${proposed.at}: ${proposed.resolution}`,
    ],
    ['approve with', approvalOf(found)],
  ]);
  const history = found.history.map(({ at, by, what, text, amount: then }) => {
    const sum = then === null ? '' : ` ${displayAmount(then, currency ?? '')}`;
    return `  ${at}  ${what}${by === null ? '' : ` by ${by}`}${sum}${text === null ? '' : `: ${text}`}\n`;
  });
  const more = commandsAbout(found).map((command) => `  pesewa ${command}\n`);
  return [fields, '\nhistory\n', ...history, '\nmore\n', ...more].join('');
}

/** The command that approves the resolution of a break as it is proposed now; null if none is. */
export function approvalOf({ id, version, proposedResolution: proposed }: BreakView): string | null {
  return proposed ? `pesewa reconcile breaks resolve ${id} --approve ${proposed.by} --seen ${version}` : null;
}

/** The command that would book the difference as the rail has it; null if none would, or it is not known. */
function bookingOf({ id, status, kind, floatChange, reference }: ShownBreakView): string | null {
  if (status === 'resolved') return null;
  if (kind === 'collection.amount_differs' && floatChange === null)
    return `pesewa decisions propose ${reference} <amount> --dry-run`;
  if (floatChange === null) return null;
  const signed = floatChange.startsWith('-') ? floatChange : `+${floatChange}`;
  return `pesewa reconcile breaks adjust ${id} --suspense --amount ${signed} --reason "…" --dry-run`;
}

/** The commands that show more of a break's subject, and the orders for it. */
function commandsAbout({ id, reference }: BreakView): readonly string[] {
  const ofSubject = id.endsWith('/balance')
    ? ['drift']
    : [
        `timeline ${reference}`,
        `reconcile breaks list --status all --reference ${reference}`,
        `decisions list --reference ${reference}`,
        `callbacks about ${reference}`,
        `webhooks list ${reference}`,
      ];
  return [...ofSubject, `orders list --break-id ${id}`];
}
