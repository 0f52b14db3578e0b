import { describe, expect, it } from 'vitest';
import { inPages } from './batches.ts';

/** Reads numbers up to a given one, and records the requests. */
function numbersUpTo(last: number) {
  const asked: (number | undefined)[] = [];
  const read = async (after: number | undefined, limit: number) => {
    asked.push(after);
    const from = (after ?? 0) + 1;
    return Array.from({ length: Math.max(0, Math.min(limit, last - from + 1)) }, (_, at) => from + at);
  };
  return { asked, read };
}

async function all(pages: AsyncIterable<readonly number[]>): Promise<readonly (readonly number[])[]> {
  const read: (readonly number[])[] = [];
  for await (const page of pages) read.push(page);
  return read;
}

describe('a list read page by page', () => {
  it('goes on after the last of each page, and leaves none out', async () => {
    const { asked, read } = numbersUpTo(1_203);
    const pages = await all(inPages(read));
    expect(pages.map(({ length }) => length)).toEqual([500, 500, 203]);
    expect(pages.flat()).toEqual(Array.from({ length: 1_203 }, (_, at) => at + 1));
    expect(asked).toEqual([undefined, 500, 1_000]);
  });

  it('begins after a given one', async () => {
    const { asked, read } = numbersUpTo(1_203);
    expect((await all(inPages(read, 600))).flat()).toEqual(Array.from({ length: 603 }, (_, at) => at + 601));
    expect(asked).toEqual([600, 1_100]);
  });

  it('ends at once where there is nothing, and after a last page that is full', async () => {
    expect(await all(inPages(numbersUpTo(0).read))).toEqual([]);
    expect((await all(inPages(numbersUpTo(1_000).read))).map(({ length }) => length)).toEqual([500, 500]);
  });
});
