import {
  consumerGroups,
  type HealthView,
  type MessagingService,
  type StatusView,
  waitingTellers,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { describeAccount, inWords } from '@pesewa/operator-client';

/** What a service says of itself. */
export type ServiceHealth = HealthView & { readonly service: MessagingService };

type Count = NonNullable<HealthView['parked']>;
type Waiting = ReturnType<typeof waitingOf>;

/** What waits for people at all services; a part that was not answered is null, and its service is in `unreported`. */
export function waitingOf(health: readonly ServiceHealth[]) {
  const unreported = new Set<MessagingService>();
  const told = <Name extends keyof typeof waitingTellers>(name: Name) => {
    const [teller] = waitingTellers[name];
    const found = health.find(({ service }) => service === teller)?.waiting[name] ?? null;
    if (found === null) unreported.add(teller);
    return found;
  };
  const books = told('books');
  return {
    orders: told('orders'),
    decisions: told('decisions'),
    settings: told('settings'),
    givenUpWebhooks: told('givenUpWebhooks'),
    suspense: books?.suspense ?? null,
    lowFloats: books?.lowFloats ?? null,
    unreported: [...unreported].toSorted(),
  };
}

/** The messages that wait at each consumer, and the consumers that did not tell how many. */
export function parkedOf(health: readonly ServiceHealth[]) {
  const counts = new Map(health.map(({ service, parked }) => [service, parked]));
  const known = consumerGroups.flatMap((service) => {
    const parked = counts.get(service);
    return parked ? [{ service, ...parked }] : [];
  });
  return { known, unreported: consumerGroups.filter((service) => !counts.get(service)) };
}

type Parked = ReturnType<typeof parkedOf>;

/** A line about parked messages. */
export function describeParked({ known, unreported }: Parked): string {
  const some = known.filter(({ count }) => count > 0);
  const counts = some.map(({ service, ...many }) => `${atLeast(many)} at ${service}`).join(', ') || 'none';
  const silent = unreported.length === 0 ? '' : `; no answer from ${unreported.join(', ')}`;
  return `parked     messages that wait: ${counts}${silent}${some.length === 0 ? '' : ': see pesewa parked'}\n`;
}

const atLeast = ({ count, isCut }: Count): string => `${count}${isCut ? ' or more' : ''}`;

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
  return [`${name.padEnd(11)}${atLeast(found)} ${what}`];
}

/** One line that says whether anything must be looked at, because that no break is open is not all. */
export function describeWhole(
  found: StatusView & { readonly caughtUp: boolean | null },
  waiting: Waiting,
  parked: Parked,
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
    [parked.known.some((one) => one.count > 0), 'parked messages'],
    [
      found.unreported.length + waiting.unreported.length + parked.unreported.length > 0,
      'what was not answered',
    ],
  ] as const;
  const named = wrong.filter(([is]) => is).map(([, what]) => what);
  return `in all     ${named.length === 0 ? 'nothing waits for people' : `look at ${named.join(', ')}`}\n`;
}
