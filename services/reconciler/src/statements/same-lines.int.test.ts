import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, completed, ids } from '../fixtures/owners.ts';
import { listed, uploader } from '../fixtures/statements.ts';

const harness = createHarness('same', process.env);
const { database, publish, request, rowOf } = harness;
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

const matched = (...lines: readonly string[]) => matchedBy(mapping, ...lines);

const withHeading = (heading: string, lines: readonly string[]) => `${heading}\r\n${lines.join('\r\n')}\r\n`;
const matchedBy = (by: object, ...lines: readonly string[]) =>
  matchedFile(withHeading('Ref,Receipt,Amount,Time', lines), by);

async function matchedFile(content: string, by: object): Promise<string> {
  const taken = await upload(content, { ...terms, mapping: by });
  const path = `/statements/${String(taken.body['id'])}`;
  await eventually(async () => {
    if ((await request(path)).body['status'] !== 'done') throw new Error('not yet matched');
  });
  return path;
}

beforeAll(harness.open);
afterAll(harness.close);

describe('lines that say exactly the same', () => {
  const same = ',,7.77,2026-01-05T00:00:00Z';
  const opens = async () =>
    listed((await request('/breaks?kind=statement.not_in_books&status=unresolved')).body).length;

  it.each([
    ['without any reference', same],
    ['with a reference of the rail', same.replace(',,', ',R7,')],
  ])('%s have one break, whatever is sent again', async (_, line) => {
    const before = await opens();
    await matched(line, line);
    expect((await opens()) - before).toBe(1);
    await matched(line, ',,broken,', line);
    expect((await opens()) - before).toBe(1);
  });
});

describe('a file that is read by another mapping', () => {
  const standing = async (reference: string) =>
    listed((await request(`/breaks?reference=${reference}&status=unresolved`)).body).map(({ id }) => id);
  const paid = async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await eventually(async () => expect((await rowOf(reference))?.status).toBe('completed'));
    return reference;
  };
  const line = (reference: string, amount: string) =>
    `${reference},R-${reference},${amount},2026-01-05T00:00:00Z`;

  it('takes back what its lines said in the wrong direction, and keeps what they say still', async () => {
    const [well, less] = [await paid(), await paid()];
    const lines = [line(well, '-100'), line(less, '-90')];
    await matchedBy({ ...mapping, positive: 'debit' }, ...lines);
    expect(await standing(well)).toEqual([`${well}/status`]);
    await matchedBy({ ...mapping, positive: 'credit' }, ...lines);
    expect(await standing(well)).toEqual([]);
    expect(await standing(less)).toEqual([`${less}/amount`]);
  });

  it('takes back that a line named no payment, unless another file says so too', async () => {
    const [one, other] = [await paid(), await paid()];
    const swapped = {
      ...mapping,
      columns: { ...mapping.columns, reference: 'Receipt', railReference: 'Ref' },
    };
    const unnamed = async () =>
      listed((await request('/breaks?kind=statement.not_in_books&status=unresolved')).body).length;
    const before = await unnamed();
    await matchedBy(swapped, line(one, '-100'), line(other, '-100'));
    await matchedBy(swapped, line(other, '-100'));
    expect((await unnamed()) - before).toBe(2);
    await matchedBy(mapping, line(one, '-100'), line(other, '-100'));
    expect((await unnamed()) - before).toBe(1);
    await matchedBy(mapping, line(other, '-100'));
    expect((await unnamed()) - before).toBe(0);
  });

  it('takes back what the first mapping said once the third one reads the line that the second could not', async () => {
    const reference = await paid();
    const swapped = {
      ...mapping,
      columns: { ...mapping.columns, reference: 'Receipt', railReference: 'Ref' },
    };
    const unnamed = async () =>
      listed((await request('/breaks?kind=statement.not_in_books&status=unresolved')).body).length;
    const before = await unnamed();
    await matchedBy(swapped, line(reference, '-100'));
    const other = await matchedBy(
      { columns: { reference: 'Receipt', amount: 'Ref' } },
      line(reference, '-100'),
    );
    expect(listed((await request(`${other}/records`)).body)).toMatchObject([{ result: 'unreadable' }]);
    expect((await unnamed()) - before).toBe(1);
    await matchedBy(mapping, line(reference, '-100'));
    expect((await unnamed()) - before).toBe(0);
  });

  it('takes back nothing that the second mapping does not compare, and says it all again once the first one is used again', async () => {
    const [fee, twice] = [await paid(), await paid()];
    const lines = [
      `${fee},RA,-100,2026-01-05T00:00:00Z,0.75`,
      `${twice},RB,-100,2026-01-05T00:00:00Z,0.5`,
      `${twice},RC,-100,2026-01-05T00:00:00Z,0.5`,
    ];
    const { reference, amount } = mapping.columns;
    const withFee = { ...mapping, columns: { ...mapping.columns, fee: 'Fee' } };
    const content = withHeading('Ref,Receipt,Amount,Time,Fee', lines);
    await matchedFile(content, withFee);
    const before = await standing(fee);
    expect(before).toEqual([`${fee}/fee`]);
    const paidTwice = async () =>
      listed((await request('/breaks?kind=statement.not_in_books&status=unresolved')).body).length;
    const unexplained = await paidTwice();
    await matchedFile(content, { columns: { reference, amount } });
    expect(await standing(fee)).toEqual(before);
    expect(await paidTwice()).toBe(unexplained);
    await matchedFile(content, { ...withFee, positive: 'debit' });
    expect(await standing(fee)).toEqual(expect.arrayContaining([`${fee}/status`]));
    await matchedFile(content, withFee);
    expect(await standing(fee)).toEqual([`${fee}/fee`]);
  });
});

describe('an upload that does not come at once', () => {
  const content = withHeading('Ref,Receipt,Amount,Time', [',R-slow,8.88,2026-01-05T00:00:00Z']);
  const other = { ...mapping, positive: 'debit' };
  const slow = (rest: Promise<void>) => {
    rest.catch(() => undefined);
    return ReadableStream.from(
      (async function* () {
        yield new Uint8Array(Buffer.from(content.slice(0, 30)));
        await rest;
        yield new Uint8Array(Buffer.from(content.slice(30)));
      })(),
    );
  };
  const begins = () =>
    eventually(async () => {
      const receiving = { stage: 'receiving' };
      expect(await database().collection('statements').countDocuments(receiving)).toBe(1);
    });

  it('is not ended by one of the same file that is read by another mapping', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const taken = upload(content, terms, slow(promise));
    await begins();
    await matchedFile(content, other);
    resolve();
    expect(await taken).toMatchObject({ status: 202 });
  });

  it('replaces nothing if the rest of it never comes', async () => {
    const path = await matchedFile(content, { columns: { reference: 'Ref', amount: 'Amount' } });
    const { promise, reject } = Promise.withResolvers<void>();
    const taken = upload(content, terms, slow(promise));
    await begins();
    reject(new Error('the client died'));
    expect(await taken).toMatchObject({ status: 408 });
    expect(await request(path)).toMatchObject({ body: { status: 'done' } });
    await matchedFile(content, mapping);
    await eventually(async () => expect((await request(path)).status).toBe(404));
  });
});
