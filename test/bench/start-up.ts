import { serviceNames } from '@pesewa/contracts';
import type { BenchOptions } from './bench.ts';
import { residentMib } from './processes.ts';
import { alone, median, type Row } from './rows.ts';
import { openService } from './single.ts';

const ROUNDS = 3;

/** How long each service takes from the start of its process until it is ready, alone, and its memory then. */
export async function benchStartUp(options: BenchOptions): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const name of serviceNames) {
    options.log(`start-up: ${name}`);
    const times: number[] = [];
    const memory: number[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      await using service = await openService({ ...options, log: () => undefined, name });
      times.push(service.readyAfterMs);
      memory.push((await residentMib(service.pid())) ?? Number.NaN);
    }
    const mib = median(memory);
    const detail = Number.isNaN(mib) ? 'alone' : `alone, ${Math.round(mib)} MiB resident once ready`;
    rows.push(alone({ name: `start-up.${name}`, value: median(times), unit: 'ms', detail }));
  }
  return rows;
}
