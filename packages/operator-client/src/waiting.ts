import {
  accountOperations,
  decisionOperations,
  deliveryOperations,
  type MessagingService,
  orderOperations,
  settingsOperations,
} from '@pesewa/contracts';
import { parseAmount } from '@pesewa/kernel';
import type { Caller } from './call.ts';
import { ClientError } from './errors.ts';

/** A count that stops at a limit. */
export interface Count {
  readonly count: number;
  readonly isCut: boolean;
}

/** A sum of the books in one currency. */
export interface Sum {
  readonly account: string;
  readonly currency: string;
  readonly balance: string;
}

/** A float that may not suffice for the payouts that wait: `held` is what all open payouts of its currency hold. */
export interface LowFloat extends Sum {
  readonly held: string;
}

/** What waits for people besides breaks; a part that was not answered is null, and its service is in `unreported`. */
export interface Waiting {
  readonly orders: Count | null;
  readonly decisions: Count | null;
  readonly settings: Count | null;
  readonly givenUpWebhooks: Count | null;
  readonly suspense: readonly Sum[] | null;
  readonly lowFloats: readonly LowFloat[] | null;
  readonly unreported: readonly MessagingService[];
}

/** Where counting stops: a page that shows itself anew asks for this many again and again. */
const COUNT_MAX = 100;

/** Builds the client that finds what waits for people at all services. */
export function createWaiting({ call, list }: Caller) {
  return {
    read: async (): Promise<Waiting> => {
      const unreported = new Set<MessagingService>();
      const part = async <Value>(
        service: MessagingService,
        reading: Promise<Value>,
      ): Promise<Value | null> => {
        try {
          return await reading;
        } catch (error) {
          if (!(error instanceof ClientError)) throw error;
          unreported.add(service);
          return null;
        }
      };
      const counted = async (
        found: Promise<{ readonly items: readonly unknown[]; readonly hasMore: boolean }>,
      ) => {
        const { items, hasMore } = await found;
        return { count: items.length, isCut: hasMore };
      };
      const proposed = { status: 'proposed' } as const;
      const [orders, decisions, settings, givenUpWebhooks, books] = await Promise.all([
        part('ledger', counted(list('ledger', orderOperations.list, proposed, COUNT_MAX))),
        part('reconciler', counted(list('reconciler', decisionOperations.list, proposed, COUNT_MAX))),
        part('ledger', counted(list('ledger', settingsOperations.list, proposed, COUNT_MAX))),
        part(
          'webhook-dispatcher',
          counted(list('webhook-dispatcher', deliveryOperations.list, { state: 'exhausted' }, COUNT_MAX)),
        ),
        part('ledger', call('ledger', accountOperations.trialBalance, {})),
      ]);
      const sums = books && standingOf(books.items);
      return {
        orders,
        decisions,
        settings,
        givenUpWebhooks,
        suspense: sums?.suspense ?? null,
        lowFloats: sums?.lowFloats ?? null,
        unreported: [...unreported].toSorted(),
      };
    },
  };
}

interface TrialLine {
  readonly account: string;
  readonly currency: string;
  readonly debit: string;
  readonly credit: string;
}

/** Suspense that is not zero, and floats that are empty or together less than what open payouts of their currency hold. */
function standingOf(lines: readonly TrialLine[]) {
  const of = (kind: string) => lines.filter(({ account }) => account.startsWith(`${kind}:`));
  const signed = ({ debit, credit }: TrialLine) => (credit === '0' ? debit : `-${credit}`);
  const sum = ({ account, currency }: TrialLine, balance: string) => ({ account, currency, balance });
  const suspense = of('suspense')
    .filter(({ debit, credit }) => debit !== credit)
    .map((line) => sum(line, line.debit === '0' ? line.credit : `-${line.debit}`));
  const lowFloats = of('float').flatMap((line) => {
    const { currency } = line;
    const held = of('wallets:held').find((one) => one.currency === currency)?.credit ?? '0';
    const floats = of('float').filter((one) => one.currency === currency);
    const all = floats.reduce((total, one) => total + minorOf(signed(one), currency), 0n);
    const isLow = minorOf(signed(line), currency) < 0n || all < minorOf(held, currency);
    return isLow ? [{ ...sum(line, signed(line)), held }] : [];
  });
  return { suspense, lowFloats };
}

function minorOf(text: string, currency: string): bigint {
  const isNegative = text.startsWith('-');
  const amount = parseAmount(isNegative ? text.slice(1) : text, currency);
  if (!amount.ok) throw new ClientError(`ledger: ${text} is no amount in ${currency}`);
  return isNegative ? -amount.value.minor : amount.value.minor;
}
