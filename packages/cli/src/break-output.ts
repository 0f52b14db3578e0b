import {
  type BreakDetailView,
  type BreakView,
  breakColumns,
  formatCsv,
  type ShownBreakView,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { inWords, pendingOf } from '@pesewa/operator-client';
import { amountCell, formatTable } from './print.ts';

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

/** Breaks as a table. */
export function breaksTable(found: readonly BreakView[], colours: boolean): string {
  return formatTable(
    ['BREAK', 'STATUS', 'AMOUNT', 'RAIL', 'OWNER', 'SINCE', 'DETAIL'],
    found.map(({ id, status, amount, currency, rail, owner, since, detail }) => [
      id,
      status,
      amountCell(amount, currency),
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

/** A break with what both sides have, its history, and where to find more about it. */
export function breakDetails(found: ShownBreakView): string {
  const { currency, amount, resolvedAt, resolvedBy, ours, theirs, proposedResolution: proposed } = found;
  const side = (value: string | null) =>
    value !== null && /^-?\d/.test(value) && currency !== null
      ? displayAmount(value, currency)
      : value && inWords(value);
  const pending = pendingOf(found);
  const lines: readonly (readonly [string, string | null])[] = [
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
    [
      'waits for',
      pending ? `the order ${pending.commandId}: see pesewa orders show ${pending.commandId}` : null,
    ],
  ];
  const shown = lines.filter(([, value]) => value !== null);
  const history = found.history.map(({ at, by, what, text, amount: then }) => {
    const sum = then === null ? '' : ` ${displayAmount(then, currency ?? '')}`;
    return `  ${at}  ${what}${by === null ? '' : ` by ${by}`}${sum}${text === null ? '' : `: ${text}`}\n`;
  });
  const links = found.links.flatMap((link) => commandFor(link) ?? []).map((more) => `  ${more}\n`);
  const fields = shown.map(([name, value]) => `${name.padEnd(13)}${value ?? ''}\n`);
  return [...fields, '\nhistory\n', ...history, '\nmore\n', ...links].join('');
}

/** The command that approves the resolution of a break as it is proposed now; null if none is. */
export function approvalOf({ id, version, resolutionProposedBy: by }: BreakDetailView): string | null {
  return by === null ? null : `pesewa reconcile breaks resolve ${id} --approve ${by} --seen ${version}`;
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

/** The command that shows what an operator API has at a path; undefined if another path's command shows it too. */
function commandFor({ service, path }: BreakDetailView['links'][number]): string | undefined {
  const { pathname, searchParams } = new URL(path, 'http://service');
  const about = searchParams.get('reference') ?? '';
  const [, first, id] = pathname.split('/');
  if (first === 'timeline') return `pesewa timeline ${about}`;
  if (first === 'breaks') return `pesewa reconcile breaks list --status all --reference ${about}`;
  if (first === 'decisions') return `pesewa decisions list --reference ${about}`;
  if (first === 'callbacks') return `pesewa callbacks about ${about}`;
  if (first === 'deliveries') return `pesewa webhooks list ${about}`;
  if (first === 'runs') return 'pesewa drift';
  if (first === 'readyz') return `pesewa realign --service ${service} --all`;
  return first === 'commands' ? `pesewa orders show ${decodeURIComponent(id ?? '')}` : undefined;
}
