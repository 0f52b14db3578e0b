import { join } from 'node:path';
import { createSupervisor, openInfrastructure } from '@pesewa/infrastructure';
import { benchAccept } from './accept.ts';
import type { Bench } from './bench.ts';
import { benchBulk } from './bulk.ts';
import { benchCallbacks } from './callbacks.ts';
import { benchCollections } from './collections.ts';
import { benchConsole } from './console.ts';
import { benchEdges } from './edges.ts';
import { benchFloors } from './floors.ts';
import { benchLedger } from './ledger.ts';
import { benchCompact, benchLifecycle } from './lifecycle.ts';
import { benchLists } from './lists.ts';
import { benchOutage } from './outage.ts';
import { benchProduce } from './produce.ts';
import { benchReconciler } from './reconciler.ts';
import { type Row, report } from './rows.ts';
import { benchStartUp } from './start-up.ts';
import { benchStatements } from './statements.ts';
import { benchWebhooks } from './webhooks.ts';

const root = join(import.meta.dirname, '..', '..');
const log = (line: string): void => void process.stdout.write(`${line}\n`);

const benches: Readonly<Record<string, { readonly run: Bench; readonly about: string }>> = {
  accept: {
    run: benchAccept,
    about: 'payouts accepted per second, against Hono with one insert per request',
  },
  bulk: { run: benchBulk, about: "10,000 payouts in one request, and another merchant's payouts meanwhile" },
  ledger: {
    run: benchLedger,
    about: 'postings per second from topic to published event: spread, one hot wallet, whole lives',
  },
  lifecycle: {
    run: benchLifecycle,
    about: 'payouts from request to webhook per second, with the CPU, bytes and writes that each takes',
  },
  compact: {
    run: benchCompact,
    about: 'the same with all services in one process',
  },
  produce: { run: benchProduce, about: 'messages produced per second, against the client of kafkajs' },
  callbacks: {
    run: benchCallbacks,
    about: 'callbacks per second stored, against Hono with one insert each, and applied through all services',
  },
  collections: {
    run: benchCollections,
    about: 'collections from payin to webhook per second, with the CPU, bytes and writes that each takes',
  },
  reconciler: {
    run: benchReconciler,
    about: 'cold start, claims and callbacks with 1,000,000 open records; takes a quarter of an hour',
  },
  outage: {
    run: benchOutage,
    about:
      '100,000 payments asked about once their rail is back, against its permitted rate, and fresh ones meanwhile',
  },
  statements: {
    run: benchStatements,
    about:
      "1,000,000 lines of a rail's statement matched per second, against reading them alone, and the memory it takes",
  },
  lists: {
    run: benchLists,
    about: "pages of the lists of a merchant with 100,000 payouts, and a month's statement, with the memory",
  },
  console: {
    run: benchConsole,
    about: 'pages of the console with 1,000,000 payments behind them; takes ten minutes',
  },
  webhooks: {
    run: benchWebhooks,
    about: 'webhooks to living endpoints while others are dead, and 10,000 due at once',
  },
  edges: {
    run: benchEdges,
    about:
      'payouts beside dead endpoints, dead names, hanging name enquiries and forged callbacks; takes twenty minutes',
  },
  'start-up': { run: benchStartUp, about: 'time until each service is ready, and its memory' },
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) {
  log('npm run bench [-- name …]\n\nMeasures against floors in the same run; all of them without a name:\n');
  for (const [name, { about }] of Object.entries(benches)) log(`  ${name.padEnd(11)} ${about}`);
  process.exit(unknown.every((name) => name === '--help') ? 0 : 2);
}

const rows: Row[] = [];

/** On infrastructure of its own, so that no benchmark is affected by another's data. */
async function measure(bench: Bench): Promise<void> {
  await using supervisor = createSupervisor();
  await using infrastructure = await openInfrastructure({ root, log, supervisor });
  rows.push(...(await bench({ root, infrastructure, supervisor, log, earlier: rows })));
}

await measure(benchFloors);
for (const [name, { run }] of Object.entries(benches)) {
  if (wanted.length === 0 || wanted.includes(name)) await measure(run);
}
await report(rows, join(root, '.pesewa', 'bench.json'));
