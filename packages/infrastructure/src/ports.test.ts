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

  test('are not reserved by anyone else after release either, while their owner lives', async () => {
    const [first] = await reservePorts(1);
    const [other] = await reservePorts(1);
    await Promise.all([first?.release(), other?.release()]);
    const proposed = [first, other].map((reserved) => reserved?.port ?? 0);
    const [second] = await reservePorts(1, () => proposed.shift() ?? 25_999);
    expect(second?.port).toBe(25_999);
    await second?.release();
  });
});
