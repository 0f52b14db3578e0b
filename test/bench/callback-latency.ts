import { systemClock } from '@pesewa/kernel';
import { signWebhook } from '@pesewa/signatures';
import type { Stack, StackOptions } from '@pesewa/stack';
import { MongoClient } from 'mongodb';
import type { BenchOptions } from './bench.ts';
import { callbackBody, initiatePaid } from './paid-collections.ts';
import { alone, quantile, type Row } from './rows.ts';
import { openSharedStack } from './shared-stack.ts';

const PER_SECOND = 5;
const COUNT = 150;
const WARM_UP_COUNT = 50;
const DEADLINE_MS = 30_000;
/** Often enough to add nothing to what is measured, seldom enough to take nothing from it. */
const LOOK_PAUSE_MS = 2;
const MS_PER_SECOND = 1_000;

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Kind {
  readonly name: string;
  readonly about: string;
  readonly rail: NonNullable<StackOptions['rail']>;
  readonly headers: (reference: string, body: string) => Record<string, string>;
}

const kinds: readonly Kind[] = [
  {
    name: 'hint',
    about: 'the rail is asked',
    rail: {},
    headers: () => ({}),
  },
  {
    name: 'proven',
    about: 'its signature proves it, the rail is not asked',
    rail: { callbacks: 'proven', callbackSecrets: [secret] },
    headers: (id, body) => ({ ...signWebhook({ id, body, timestamp: new Date(), secrets: [secret] }) }),
  },
];

/** From a callback's arrival at the ingress until its collection's end can be read in the gateway's database. */
export async function measureFinal(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds) {
    options.log(`callbacks: ${COUNT} one by one, ${kind.about}`);
    const latenciesMs = await latencies(options, kind);
    for (const [which, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      rows.push(
        alone({
          name: `callbacks.final.${kind.name}.${which}`,
          value: quantile(latenciesMs, share),
          unit: 'ms',
          detail: `from a callback to its collection's end at the gateway, ${PER_SECOND} a second; ${kind.about}`,
        }),
      );
    }
  }
  return rows;
}

async function latencies(options: BenchOptions, { name, rail, headers }: Kind): Promise<readonly number[]> {
  const prefix = `final-${name}`;
  await using stack = await openSharedStack(options, {
    prefix,
    rail,
    // Only callbacks make the reconciler ask about a collection.
    environment: { reconciler: { FIRST_POLL_AFTER_MS: '600000' } },
  });
  await using client = await new MongoClient(options.infrastructure.env.MONGODB_URL).connect();
  const collections = client.db(`${prefix}_collections`).collection('collections');
  await stack.simulator.setFaults({ callbacks: false });
  const measured: number[] = [];
  const references = await initiatePaid(stack, WARM_UP_COUNT + COUNT);
  for (const [index, reference] of references.entries()) {
    const startedMs = performance.now();
    const body = callbackBody(reference);
    await send(stack, body, headers(`callback-${reference}`, body));
    while ((await collections.countDocuments({ reference, status: 'COMPLETED' })) === 0) {
      const tookMs = performance.now() - startedMs;
      if (tookMs > DEADLINE_MS) throw new Error(`${reference} has not ended after ${tookMs} ms`);
      await systemClock.sleep(LOOK_PAUSE_MS);
    }
    const tookMs = performance.now() - startedMs;
    if (index >= WARM_UP_COUNT) measured.push(tookMs);
    await systemClock.sleep(Math.max(0, MS_PER_SECOND / PER_SECOND - tookMs));
  }
  return measured;
}

async function send(stack: Stack, body: string, headers: Record<string, string>): Promise<void> {
  const url = `${stack.url('webhook-ingress')}/rails/upstream/collections`;
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  if (!answer.ok) throw new Error(`the ingress answered ${answer.status}: ${await answer.text()}`);
}
