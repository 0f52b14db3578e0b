import type { StatusView } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { type Count, describeAccount, inWords, type Waiting } from '@pesewa/operator-client';
import type { Answers } from './clients/ask-services.ts';

type Since = (at: string | null) => string | null;

/** Open payments that should have ended, rails without an answer, and what waits for people; a line for each. */
export function describeWaiting(
  { open, silent }: Pick<StatusView, 'open' | 'silent'>,
  waiting: Waiting,
  since: Since,
): string {
  const { orders, decisions, settings, givenUpWebhooks, suspense, lowFloats, unreported } = waiting;
  const lines = [
    ...(open ?? []).flatMap(({ kind, overdue }) => describeOverdue(kind, overdue, since)),
    ...(silent ?? []).map(
      ({ rail, since: at, why }) =>
        `rail       ${rail} gives no answer for ${since(at) ?? ''}, since ${at}: ${why}`,
    ),
    ...Object.entries({ orders, decisions, settings }).flatMap(([what, found]) =>
      countLine(found, what, `wait for another approver: see pesewa ${what} list --status proposed`),
    ),
    ...countLine(givenUpWebhooks, 'webhooks', 'were given up: see pesewa webhooks list'),
    ...(suspense ?? []).map(
      ({ account, currency, balance }) =>
        `suspense   ${displayAmount(balance, currency)} is not explained: see pesewa statement ${account}`,
    ),
    ...(lowFloats ?? []).map(
      ({ account, currency, balance, held }) =>
        `float      ${describeAccount(account)} runs low: ${displayAmount(balance, currency)}, and open payouts hold ${displayAmount(held, currency)}`,
    ),
    ...(unreported.length === 0
      ? []
      : [`no answer  from ${unreported.join(', ')}: what waits there is not known`]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

type Overdue = NonNullable<StatusView['open']>[number]['overdue'];

function describeOverdue(kind: string, { count, oldest }: Overdue, since: Since): readonly string[] {
  if (count === 0) return [];
  const named = oldest.map(
    ({ reference, state, openedAt }) =>
      `           ${reference} (${inWords(state)}) for ${since(openedAt) ?? ''}`,
  );
  const rest = count - oldest.length;
  const more = rest > 0 ? [`           ${rest} more: see pesewa payments list ${kind}s --open`] : [];
  return [`overdue    ${kind}s that are open for more than an hour: ${count}`, ...named, ...more];
}

function countLine(found: Count | null, name: string, what: string): readonly string[] {
  if (!found || found.count === 0) return [];
  return [`${name.padEnd(11)}${found.count}${found.isCut ? ' or more' : ''} ${what}`];
}

/** One line that says whether anything must be looked at, because that no break is open is not all. */
export function describeWhole(
  found: StatusView,
  waiting: Waiting,
  parked: Pick<Answers<unknown>, 'items' | 'missing'>,
): string {
  const { open, silent, polls, breaks, comparison, coverage, close } = found;
  const count = (some: Count | null) => some?.count ?? 0;
  const wrong = [
    [(breaks ?? []).length > 0, 'breaks'],
    [(silent ?? []).length > 0, 'rails without an answer'],
    [(open ?? []).some(({ overdue }) => overdue.count > 0), 'overdue payments'],
    [(polls ?? []).some(({ overdue }) => overdue > 0), 'overdue polls'],
    [
      (polls ?? []).some(({ configured }) => !configured) ||
        (comparison?.removed ?? []).some(({ withinRange }) => !withinRange),
      'removed rails',
    ],
    [comparison?.at === null, 'wallets that were never compared'],
    [(comparison?.outOfRange.length ?? 0) > 0, 'wallets out of range'],
    [(comparison?.unexplained.length ?? 0) > 0, 'wallets that nothing explains'],
    [(coverage?.found ?? 0) > 0, 'the audit of coverage'],
    [(close?.counts?.['unclear'] ?? 0) > 0, 'unclear payments of the last close'],
    [found.caughtUp === false, 'events that are not applied'],
    [count(waiting.orders) + count(waiting.decisions) + count(waiting.settings) > 0, 'proposals'],
    [count(waiting.givenUpWebhooks) > 0, 'webhooks given up'],
    [(waiting.suspense ?? []).length > 0, 'suspense'],
    [(waiting.lowFloats ?? []).length > 0, 'floats'],
    [parked.items.length > 0, 'parked messages'],
    [
      found.unreported.length + waiting.unreported.length + parked.missing.length > 0,
      'what was not answered',
    ],
  ] as const;
  const named = wrong.filter(([is]) => is).map(([, what]) => what);
  return `in all     ${named.length === 0 ? 'nothing waits for people' : `look at ${named.join(', ')}`}\n`;
}
