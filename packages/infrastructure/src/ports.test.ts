import { describe, expect, test } from 'vitest';
import { StartError } from './errors.ts';
import { reservePort, reservePorts } from './ports.ts';

describe('held ports', () => {
  test('are different, taken while held, and free after release', async () => {
    const held = await reservePorts(3);
    const ports = held.map(({ port }) => port);
    expect(new Set(ports).size).toBe(3);
    const wanted = ports[0] ?? 0;
    await expect(reservePort(wanted, 'LEDGER_PORT')).rejects.toThrow(
      new StartError(`port ${wanted} is taken: stop what listens there or set LEDGER_PORT`),
    );
    await Promise.all(held.map((port) => port.release()));
    const again = await reservePort(wanted);
    expect(again.port).toBe(wanted);
    await again.release();
  });
});
