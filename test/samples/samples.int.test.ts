import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { walletKeyOf } from '@pesewa/contracts';
import { type OutgoingEvent, openMessagingAs } from '@pesewa/messaging';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
  await using scope = openTestScope(config);
  const messaging = await openMessagingAs(scope, {
    service: 'sender',
    database: 'sender',
    produces: ['payouts'],
  });
  await messaging.db.createCollection('outbox').catch(() => undefined);
  const commit = messaging.groupCommit<OutgoingEvent, true>('test.send', async (events, transaction) => {
    for (const event of events) transaction.emit(event);
    return events.map(() => true);
  });
  // The same event twice, and one more; the first amount is more than a JavaScript number holds exactly.
  const first = completed('inv-1', 9_007_199_254_740_993n);
  for (const event of [first, first, completed('inv-2', 250n)]) await commit.submit(event);
});

function completed(merchantReference: string, amount: bigint): OutgoingEvent {
  return {
    topic: 'payouts',
    key: walletKeyOf('demo', 'KES'),
    type: 'pesewa.payouts.PayoutCompleted',
    version: 3n,
    causationId: null,
    payload: {
      occurredAt: 1n,
      reference: `po-${merchantReference}`,
      merchantReference,
      merchantId: 'demo',
      currency: 'KES',
      amount,
      fee: 1n,
      rail: 'bank',
      railFee: 1n,
      statusReason: 'Successful',
    },
  };
}

const samples = import.meta.dirname;
const python = process.env['PYTHON'] ?? 'python3';
const hasPython = spawnSync(python, ['-c', 'import confluent_kafka, fastavro']).status === 0;
const reason = hasPython ? '' : ' (left out: no Python with confluent-kafka and fastavro)';

it('the TypeScript sample prints each event once', async () => {
  await expectEachEventOnce(process.execPath, 'consume.ts');
});

it.runIf(hasPython)(`the Python sample prints each event once${reason}`, async () => {
  await expectEachEventOnce(python, 'consume.py');
});

async function expectEachEventOnce(command: string, file: string): Promise<void> {
  const sample = spawn(command, [path.join(samples, file)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      KAFKA_BROKERS: config.KAFKA_BROKERS.join(','),
      SCHEMA_REGISTRY_URL: config.SCHEMA_REGISTRY_URL,
      TOPIC_PREFIX: config.TOPIC_PREFIX,
      CONSUMER_GROUP: `${config.TOPIC_PREFIX}${file}`,
    },
  });
  try {
    let output = '';
    sample.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    // All three are of one wallet, hence in one partition: the repeated first one came before the second.
    await eventually(() => expect(output).toBe('inv-1 9007199254740993\ninv-2 250\n'));
  } finally {
    sample.kill('SIGKILL');
  }
}
