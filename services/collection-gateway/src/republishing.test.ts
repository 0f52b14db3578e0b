import { idOf, type OutgoingEvent } from '@pesewa/messaging';
import { describe, expect, it } from 'vitest';
import { openGateway, payinBody } from './fixtures/gateway.ts';
import { eventsProvenBy } from './republishing.ts';

const identity = (event: OutgoingEvent) => ({
  id: idOf(event),
  type: event.type,
  version: event.version,
  payload: event.payload,
  causationId: event.causationId,
  traceparent: event.traceparent,
});

describe('what is published again of a collection', () => {
  it.each([
    ['began', undefined],
    ['completed', { status: 'completed' }],
    ['failed', { status: 'failed', reason: 'EXPIRED' }],
  ])('that %s is what was published: the same events', async (_what, fact) => {
    const gateway = openGateway();
    await gateway.send({ path: 'payin', body: payinBody() });
    const [collection] = gateway.stored.values();
    const reference = collection?.reference ?? '';
    for (const one of fact ? [fact] : []) await gateway.observe({ reference, ...one });
    const stored = gateway.stored.values().toArray().at(0);
    const again = stored ? eventsProvenBy(stored) : [];
    expect(again.map(identity)).toEqual(gateway.emitted.map(identity));
  });
});
