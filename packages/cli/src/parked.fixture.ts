/** A parked message as its service lists it. */
export function parkedMessage(id: string, more: object = {}) {
  const [, topic = '', partition = '', offset = ''] = id.split('/');
  return {
    id,
    topic,
    partition: Number(partition),
    offset,
    key: 'demo:KES',
    eventType: 'pesewa.payouts.PayoutCompleted',
    eventId: `ev-${offset}`,
    reason: 'a capture without a hold',
    valueBytes: 120,
    parkedAt: `2026-01-02T03:04:05.${offset.padStart(3, '0')}Z`,
    state: 'parked',
    ...more,
  };
}
