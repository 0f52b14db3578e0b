import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { listed, uploader } from '../fixtures/statements.ts';

const harness = createHarness('same', process.env);
const { request } = harness;
const upload = uploader(request);
const mapping = {
  columns: { reference: 'Ref', railReference: 'Receipt', amount: 'Amount', time: 'Time' },
  time: { format: 'ISO' },
};
const terms = {
  rail: 'upstream',
  currency: 'KES',
  mapping,
  from: '2020-01-01T00:00:00Z',
  to: '2020-01-02T00:00:00Z',
};

async function matched(...lines: readonly string[]): Promise<void> {
  const taken = await upload(`Ref,Receipt,Amount,Time\r\n${lines.join('\r\n')}\r\n`, terms);
  const path = `/statements/${String(taken.body['id'])}`;
  await eventually(async () => {
    if ((await request(path)).body['status'] !== 'done') throw new Error('not yet matched');
  });
}

beforeAll(harness.open);
afterAll(harness.close);

describe('lines that say exactly the same', () => {
  const same = ',,7.77,2026-01-05T00:00:00Z';
  const opens = async () =>
    listed((await request('/breaks?kind=statement.not_in_books&status=unresolved')).body).length;

  it('without any reference are money that moved as often, whatever is sent again', async () => {
    const before = await opens();
    await matched(same, same);
    expect((await opens()) - before).toBe(2);
    await matched(same, ',,broken,', same);
    expect((await opens()) - before).toBe(2);
    await matched(same, same, same);
    expect((await opens()) - before).toBe(3);
  });

  it('with a reference of the rail are one movement', async () => {
    const before = await opens();
    const withReference = same.replace(',,', ',R7,');
    await matched(withReference, withReference);
    expect((await opens()) - before).toBe(1);
  });
});
