import { z } from 'zod';
import type { Ask, ServiceAddress } from './ask.ts';

/** Reads a list of an operations API page by page, until it ends or `limit` items are read (ADR 60). */
export async function readPages<Item extends z.ZodType>(
  ask: Ask,
  item: Item,
  list: {
    readonly service: ServiceAddress;
    readonly path: string;
    readonly query: Readonly<Record<string, string | undefined>>;
    readonly limit: number;
    /** The name of the query parameter for the start of a page. */
    readonly cursorName?: 'cursor' | 'after';
  },
): Promise<readonly z.output<Item>[]> {
  const { service, path, query, limit, cursorName = 'cursor' } = list;
  const page = z.object({ items: z.array(item), next: z.string().nullable() });
  const items: z.output<Item>[] = [];
  let cursor: string | null = '';
  while (cursor !== null && items.length < limit) {
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, [cursorName]: cursor }))
      if (value !== undefined && value !== '') asked.set(name, value);
    const at = asked.size === 0 ? path : `${path}?${asked.toString()}`;
    const found: z.output<typeof page> = await ask(page, { service, path: at });
    items.push(...found.items);
    cursor = found.next;
  }
  return items.slice(0, limit);
}
