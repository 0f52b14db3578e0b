import { collectionWebhook, parseJson, payoutWebhook } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type { Delivery, Payment, Story, Violation } from './world.ts';

/** The webhooks of one payment (W1 to W4). */
export function checkWebhooks(story: Story): readonly Violation[] {
  const { reference } = story.payment;
  const named = (invariant: string, whats: readonly string[]) =>
    whats.map((what) => ({ invariant, reference, what }));
  return [
    ...named('W1', delivered(story)),
    ...named('W2', sameBytes(story)),
    ...named('W3', onlyEnds(story)),
    ...named('W4', onlyTheOwner(story)),
  ];
}

/** The ends that a payment came to, as its deliveries name them. */
function endsOf({ api, status }: Payment): readonly string[] {
  if (status === 'REVERSED') return [`${api}-completed`, `${api}-reversed`];
  return status === 'COMPLETED' || status === 'FAILED' ? [`${api}-${status.toLowerCase()}`] : [];
}

/** W1: each end reached the merchant, or stands given up where people see it. */
function delivered({ payment, deliveries, received }: Story): readonly string[] {
  return endsOf(payment).flatMap((kind) => {
    const [delivery, ...others] = deliveries.filter((one) => one.kind === kind);
    if (!delivery) return [`nothing tells the merchant of ${kind}`];
    if (others.length > 0) return [`${kind} is owed ${others.length + 1} times`];
    if (delivery.state === 'exhausted') return [];
    if (delivery.state !== 'delivered') return [`${kind} is ${delivery.state}`];
    if (received.some(({ webhookId }) => webhookId === delivery.id)) return [];
    return [`${kind} counts as delivered, and did not arrive`];
  });
}

/** W2: every attempt has the same bytes, and they tell what is recorded. */
function sameBytes({ payment, deliveries, received }: Story): readonly string[] {
  return deliveries.flatMap((delivery) => {
    const attempts = received.filter(({ webhookId }) => webhookId === delivery.id);
    const found = attempts.some(({ body }) => body !== delivery.body)
      ? [`${delivery.kind} arrived with other bytes`]
      : [];
    if (!endsOf(payment).includes(delivery.kind)) return found;
    return tells(delivery, payment)
      ? found
      : [...found, `${delivery.kind} tells something else than the record`];
  });
}

function tells({ kind, body }: Delivery, payment: Payment): boolean {
  const { currency, amount, fee, reference, merchantReference } = payment;
  const same = (said: string, minor: bigint) => Number(said) === Number(formatAmount(minor, currency));
  if (payment.api === 'payout') {
    const { data } = payoutWebhook.parse(parseJson(body));
    return (
      data.transactionReference === reference &&
      data.merchantReference === merchantReference &&
      `payout-${data.transactionStatus.toLowerCase()}` === kind &&
      same(String(data.amount), amount) &&
      same(String(data.feeAmount), fee) &&
      same(String(data.valueAmount), amount + fee)
    );
  }
  const said = collectionWebhook.parse(parseJson(body));
  const isPaid = payment.status === 'COMPLETED';
  return (
    said.transaction_reference === reference &&
    said.merchant_reference === merchantReference &&
    `collection-${said.status.toLowerCase()}` === kind &&
    same(String(said.amount_received), payment.amountReceived) &&
    same(String(said.transaction_fee), isPaid ? fee : 0n)
  );
}

/** W3: nothing is told but ends that the payment came to. */
function onlyEnds({ payment, deliveries, received }: Story): readonly string[] {
  const ends = endsOf(payment);
  const wrong = deliveries
    .filter(({ kind }) => !ends.includes(kind))
    .map(({ kind }) => `is ${payment.status}, and the merchant is told of ${kind}`);
  const ids = new Set(deliveries.map(({ id }) => id));
  const unknown = received
    .filter(({ webhookId }) => !ids.has(webhookId))
    .map(() => 'a webhook of no delivery arrived');
  return [...wrong, ...unknown];
}

/** W4: only its own merchant hears of a payment, at the address of its API. */
function onlyTheOwner({ payment, deliveries, received }: Story): readonly string[] {
  const path = `/merchant/${payment.merchantId}/${payment.api}s`;
  const owed = deliveries
    .filter(({ merchantId }) => merchantId !== payment.merchantId)
    .map(({ merchantId }) => `${merchantId} is owed its webhook`);
  const sent = received
    .filter((one) => one.merchantId !== payment.merchantId || one.path !== path)
    .map((one) => `its webhook went to ${one.path}`);
  return [...owed, ...sent];
}
