import { createHash } from 'node:crypto';
import type { SinglePayoutRequest } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, feeFor, type Ids, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import { type PayoutCommand, type PayoutRefusal, payoutDecider } from './domain/payout.ts';
import { canonicalContent, type OrderRefusal, type PayoutOrder, readOrder } from './domain/submission.ts';
import type { PayoutEvents } from './events.ts';
import type { Payout, PayoutChange, PayoutStore } from './store.ts';

/** A command for one payout, and the event or request behind it. */
export interface PayoutOrderCommand {
  readonly reference: string;
  readonly command: PayoutCommand;
  readonly causationId: string | null;
}

/** What the payout gateway does: accepts, shows, and moves payouts. */
export interface Payouts {
  /** Accepts a payout once; the same again gives the same record, other content is refused (design 4.2). */
  readonly submit: (
    merchant: Merchant,
    request: SinglePayoutRequest,
  ) => Promise<Result<Payout, OrderRefusal>>;
  readonly find: (merchantId: string, reference: string) => Promise<Payout | undefined>;
  /** Applies commands within a transaction: loads, decides in order, saves, emits. */
  readonly apply: (commands: readonly PayoutOrderCommand[], transaction: Transaction) => Promise<void>;
}

interface PayoutsDeps {
  readonly store: PayoutStore;
  readonly events: PayoutEvents;
  readonly messaging: Messaging;
  readonly routeRail: (order: {
    country: string;
    currency: string;
    channel: PayoutOrder['channel'];
  }) => string | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly refused: (refusal: PayoutRefusal, reference: string) => void;
}

/** Builds {@link Payouts}. */
export function createPayouts(deps: PayoutsDeps): Payouts {
  const { store, events } = deps;
  const accepting = deps.messaging.groupCommit<Payout, Payout>(
    'payouts.accept',
    async (payouts, transaction, careful) => {
      const accepted = new Map<string, Payout>();
      const keyOf = (payout: Payout) => `${payout.merchantId}:${payout.order.merchantReference}`;
      if (careful) {
        const keys = payouts.map((payout) => ({
          merchantId: payout.merchantId,
          merchantReference: payout.order.merchantReference,
        }));
        for (const payout of await store.findAccepted(keys, transaction.session))
          accepted.set(keyOf(payout), payout);
      }
      const fresh: Payout[] = [];
      for (const payout of payouts) {
        if (accepted.has(keyOf(payout))) continue;
        accepted.set(keyOf(payout), payout);
        fresh.push(payout);
      }
      if (fresh.length > 0) await store.insert(fresh, transaction.session);
      for (const payout of fresh) transaction.emit(events.accepted(payout));
      return payouts.map((payout) => accepted.get(keyOf(payout)) ?? payout);
    },
  );

  return {
    submit: async (merchant, request) => {
      const order = readOrder(request);
      if (!order.ok) return order;
      const { amount, country, channel } = order.value;
      const rail = deps.routeRail({ country, currency: amount.currency, channel });
      const wallet = merchant.wallets.find((candidate) => candidate.currency === amount.currency);
      const contentHash = createHash('sha256').update(canonicalContent(order.value)).digest('base64');
      // A duplicate is judged before routing, limits and funds, so it must be looked for even where those refuse.
      if (rail === undefined || wallet === undefined) {
        const earlier = await store.find(merchant.id, order.value.merchantReference);
        if (earlier?.order.merchantReference === order.value.merchantReference)
          return sameOrRefused(earlier, contentHash);
        return rail === undefined
          ? refuse({
              code: 'noRoute',
              message: `no route for ${channel} in ${country} with ${amount.currency}`,
            })
          : refuse({ code: 'insufficientFunds', message: `there is no wallet in ${amount.currency}` });
      }
      const payout = await accepting.submit({
        ...payoutDecider.initial,
        reference: deps.ids.next('po'),
        merchantId: merchant.id,
        order: order.value,
        contentHash,
        fee: feeFor(wallet.payoutFee, amount.minor),
        rail,
        acceptedAtMs: deps.clock.nowMs(),
      });
      return sameOrRefused(payout, contentHash);
    },
    find: store.find,
    apply: (commands, transaction) => applyCommands(deps, commands, transaction),
  };
}

function sameOrRefused(payout: Payout, contentHash: string): Result<Payout, OrderRefusal> {
  if (payout.contentHash === contentHash) return accept(payout);
  const message =
    'transactionReference was used before with other content: use a new reference for a new payout';
  return refuse({ code: 'duplicate', message });
}

async function applyCommands(
  { store, events, refused }: Pick<PayoutsDeps, 'store' | 'events' | 'refused'>,
  commands: readonly PayoutOrderCommand[],
  transaction: Transaction,
): Promise<void> {
  const references = [...new Set(commands.map(({ reference }) => reference))];
  const loaded = await store.findByReferences(references, transaction.session);
  const changes = new Map<string, PayoutChange>(
    loaded.map((payout) => [payout.reference, { before: payout, after: payout }]),
  );
  for (const { reference, command, causationId } of commands) {
    const change = changes.get(reference);
    if (!change) continue;
    const decision = payoutDecider.decide(command, change.after);
    if (!decision.ok) {
      refused(decision.refusal, reference);
      continue;
    }
    let { after } = change;
    for (const happening of decision.value) {
      after = { ...after, ...payoutDecider.evolve(after, happening) };
      const event = events.happened(happening, after, causationId);
      if (event) transaction.emit(event);
    }
    changes.set(reference, { before: change.before, after });
  }
  await store.save(
    [...changes.values()].filter(({ before, after }) => before !== after),
    transaction.session,
  );
}
