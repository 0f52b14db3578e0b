import { Counter, type Registry } from 'prom-client';

/** Registers `events_emitted_total`; gives the function that counts. */
export function countEmitted(registry: Registry): (types: readonly string[]) => void {
  const events = new Counter({
    name: 'events_emitted_total',
    help: 'Events that were committed for publishing, by type; an event that is published again counts again.',
    labelNames: ['type'],
    registers: [registry],
  });
  return (types) => {
    const counts = new Map<string, number>();
    for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const [type, count] of counts) events.inc({ type }, count);
  };
}

/** Registers `messages_consumed_total`. */
export function countConsumed(registry: Registry): Counter<'topic' | 'outcome'> {
  return new Counter({
    name: 'messages_consumed_total',
    help: 'Messages consumed, by topic and outcome.',
    labelNames: ['topic', 'outcome'],
    registers: [registry],
  });
}
