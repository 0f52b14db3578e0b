import { collectionWebhook, parseJson, payoutWebhook } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { type Finding, type Violation, violationsOf } from './rules.ts';
import type { Delivery, Evidence, Payment } from './world.ts';

/** The webhooks of one payment (W1 to W4). */
export function checkWebhooks(evidence: Evidence): readonly Violation[] {
  return violationsOf(evidence.payment.reference, [
    ...delivered(evidence),
    ...sameBytes(evidence),
    ...onlyEnds(evidence),
    ...onlyTheOwner(evidence),
  ]);
}

/** The ends that a payment came to, as its deliveries name them. */
function endsOf({ api, status }: Payment): readonly string[] {
  if (status === 'REVERSED') return [`${api}-completed`, `${api}-reversed`];
  return status === 'COMPLETED' || status === 'FAILED' ? [`${api}-${status.toLowerCase()}`] : [];
}

/** W1: each end reached the merchant, or its delivery was given up where people see it. */
function delivered({ payment, deliveries, received }: Evidence): readonly Finding[] {
  return endsOf(payment).flatMap((kind): readonly Finding[] => {
    const [delivery, ...others] = deliveries.filter((one) => one.kind === kind);
    if (!delivery) return [['W1 owed to nobody', `there is no delivery of ${kind} to the merchant`]];
    if (others.length > 0) return [['W1 owed twice', `${kind} is owed ${others.length + 1} times`]];
    if (delivery.state === 'exhausted') return [];
    if (delivery.state !== 'delivered') return [['W1 undelivered', `${kind} is ${delivery.state}`]];
    if (received.some(({ webhookId }) => webhookId === delivery.id)) return [];
    return [['W1 not received', `${kind} counts as delivered, and did not arrive`]];
  });
}

/** W2: every attempt has the same bytes, and they match the record. */
function sameBytes({ payment, deliveries, received }: Evidence): readonly Finding[] {
  return deliveries.flatMap((delivery): readonly Finding[] => {
    const { id, kind, body } = delivery;
    const found: Finding[] = [];
    if (received.some((attempt) => attempt.webhookId === id && attempt.body !== body))
      found.push(['W2 other bytes', `${kind} arrived with other bytes`]);
    if (endsOf(payment).includes(kind) && !isAsRecorded(delivery, payment))
      found.push(['W2 another content', `the body of ${kind} differs from the record`]);
    return found;
  });
}

function isAsRecorded({ kind, body }: Delivery, payment: Payment): boolean {
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

/** W3: webhooks report only ends that the payment reached. */
function onlyEnds({ payment, deliveries, received }: Evidence): readonly Finding[] {
  const ends = endsOf(payment);
  const ids = new Set(deliveries.map(({ id }) => id));
  return [
    ...deliveries
      .filter(({ kind }) => !ends.includes(kind))
      .map(
        ({ kind }): Finding => [
          'W3 no such end',
          `is ${payment.status}, and the merchant has a webhook for ${kind}`,
        ],
      ),
    ...received
      .filter(({ webhookId }) => !ids.has(webhookId))
      .map((): Finding => ['W3 no delivery', 'a webhook of no delivery arrived']),
  ];
}

/** W4: only its own merchant receives a payment's webhooks, at the address of its API. */
function onlyTheOwner({ payment, deliveries, received }: Evidence): readonly Finding[] {
  const path = `/merchant/${payment.merchantId}/${payment.api}s`;
  return [
    ...deliveries
      .filter(({ merchantId }) => merchantId !== payment.merchantId)
      .map(({ merchantId }): Finding => ['W4 owed to another', `${merchantId} is owed its webhook`]),
    ...received
      .filter((one) => one.merchantId !== payment.merchantId || one.path !== path)
      .map((one): Finding => ['W4 sent to another', `its webhook went to ${one.path}`]),
  ];
}
