import { describe, expect, it } from 'vitest';
import { oneAtATime } from './replica-jobs.ts';

describe('work that runs one at a time', () => {
  it('lets no caller wait for more than the present run and one more', async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const run = oneAtATime(async () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      const place = gates.length;
      await gate.promise;
      return place;
    });
    const first = run();
    const others = Array.from({ length: 50 }, () => run());
    expect(gates).toHaveLength(1);
    gates[0]?.resolve();
    expect(await first).toBe(1);
    // Their result is from a run that began after they asked.
    expect(gates).toHaveLength(2);
    const third = run();
    gates[1]?.resolve();
    expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
    gates[2]?.resolve();
    expect(await third).toBe(3);
    const quiet = run();
    gates[3]?.resolve();
    expect(await quiet).toBe(4);
    expect(gates).toHaveLength(4);
  });

  it('goes on after work that broke', async () => {
    let runs = 0;
    const run = oneAtATime(async () => {
      runs += 1;
      if (runs === 1) throw new Error('broken');
      return 'done';
    });
    const [first, second] = [run(), run()];
    await expect(first).rejects.toThrow('broken');
    expect(await second).toBe('done');
  });
});
