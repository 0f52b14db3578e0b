import { join } from 'node:path';
import { createSupervisor, openInfrastructure } from '@pesewa/stack';
import { benchAccept } from './accept.ts';
import type { Bench } from './bench.ts';
import { benchLedger } from './ledger.ts';
import { type Row, report } from './rows.ts';

const root = join(import.meta.dirname, '..', '..');
const log = (line: string): void => void process.stdout.write(`${line}\n`);

const benches: Readonly<Record<string, Bench>> = { accept: benchAccept, ledger: benchLedger };

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0 || wanted.includes('--help')) {
  log(
    `npm run bench [-- name …]\n\nMeasures against floors in the same run; names: ${Object.keys(benches).join(', ')}`,
  );
  process.exit(unknown.every((name) => name === '--help') ? 0 : 2);
}

const rows: Row[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // Fresh infrastructure for each, so that none pays for the data of another.
  await using supervisor = createSupervisor();
  await using infrastructure = await openInfrastructure({ root, log, supervisor });
  rows.push(...(await bench({ root, infrastructure, supervisor, log })));
}
await report(rows, join(root, '.pesewa', 'bench.json'));
