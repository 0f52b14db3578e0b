import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Ask, Download } from './ask.ts';

/** The statuses of breaks, in the order in which a break passes through them. */
export const breakStatuses = ['open', 'assigned', 'explained', 'resolved'] as const;

const nullable = z.string().nullable();

const row = z.object({
  id: z.string(),
  kind: z.string(),
  reference: z.string(),
  rail: nullable,
  status: z.enum(breakStatuses),
  currency: nullable,
  amount: nullable,
  detail: z.string(),
  owner: nullable,
  explanation: nullable,
  openedAt: z.string(),
  since: z.string(),
  resolvedAt: nullable,
  resolution: nullable,
  resolvedBy: nullable,
  version: z.number(),
});

const adjustment = z.object({
  commandId: z.string(),
  kind: z.enum(['adjust', 'suspense']),
  merchantId: z.string().optional(),
  rail: z.string().optional(),
  currency: z.string(),
  amount: z.string(),
  proposedBy: z.string(),
  proposedAt: z.string(),
  status: z.string(),
  concludedAt: nullable,
});

const whole = row.extend({
  adjustments: z.array(adjustment),
  history: z.array(
    z.object({ at: z.string(), by: nullable, what: z.string(), text: nullable, amount: nullable }),
  ),
  links: z.array(z.object({ service: z.string(), path: z.string() })),
});

const page = z.object({ items: z.array(row), next: z.string().nullable() });

/** The fields of a listed break, in order. */
export const breakColumns = row.keyof().options;

/** A break as the reconciler lists it: amounts in signed decimal text, times in UTC. */
export type BreakRow = z.output<typeof row>;

/** A break with its history, its adjustments, and where to find more about it. */
export type BreakView = z.output<typeof whole>;

/** A correction that was proposed for a break. */
export type AdjustmentView = z.output<typeof adjustment>;

/** Which breaks are listed; each field narrows the list. */
export interface BreakFilters {
  readonly status?: BreakRow['status'] | 'unresolved' | undefined;
  readonly reference?: string | undefined;
  readonly kind?: string | undefined;
  readonly rail?: string | undefined;
  readonly currency?: string | undefined;
  readonly owner?: string | undefined;
  /** Such as `7d`. */
  readonly olderThan?: string | undefined;
}

/** What people do with a break: the verb of its path, and the body. */
export type BreakChange =
  | { readonly verb: 'assign'; readonly body: { readonly to: string } }
  | { readonly verb: 'notes'; readonly body: { readonly text: string } }
  | { readonly verb: 'explain'; readonly body: { readonly explanation: string } }
  | { readonly verb: 'resolve'; readonly body: { readonly resolution: string } }
  | { readonly verb: 'reopen'; readonly body: { readonly reason: string } }
  | { readonly verb: 'withdraw'; readonly body: { readonly commandId: string } }
  | { readonly verb: 'adjustment'; readonly body: Readonly<Record<string, string>> };

/** Discrepancies that wait for people, or for their cause to go away (ADR 31). */
export interface Breaks {
  /** The most recently opened ones first, at most `limit`, and whether there are more. */
  readonly list: (
    filters: BreakFilters,
    limit: number,
  ) => Promise<{ readonly items: readonly BreakRow[]; readonly hasMore: boolean }>;
  readonly show: (id: string) => Promise<BreakView>;
  readonly change: (id: string, change: BreakChange) => Promise<BreakView>;
  /** Writes all of them to a file. */
  readonly export: (filters: BreakFilters, format: 'csv' | 'json', file: string) => Promise<void>;
}

/** Builds {@link Breaks}. */
export function createBreaks(ask: Ask, download: Download): Breaks {
  const service = 'reconcilerUrl' as const;
  const path = (id: string) => `/breaks/${encodeURIComponent(id)}`;
  return {
    show: (id) => ask(whole, { service, path: path(id) }),
    change: (id, { verb, body }) => ask(whole, { service, path: `${path(id)}/${verb}`, body }),
    export: (filters, format, file) =>
      download({ service, path: `/breaks/export?${queryOf(filters, { format })}`, file }),
    list: async (filters, limit) => {
      const items: BreakRow[] = [];
      let cursor: string | null = '';
      while (cursor !== null && items.length < limit) {
        const size = String(Math.min(limit - items.length, PAGE_MAX));
        const query = queryOf(filters, { limit: size, ...(cursor !== '' && { cursor }) });
        const found: z.output<typeof page> = await ask(page, { service, path: `/breaks?${query}` });
        items.push(...found.items);
        cursor = found.next;
      }
      return { items, hasMore: cursor !== null };
    },
  };
}

const PAGE_MAX = 200;

function queryOf(filters: BreakFilters, more: Readonly<Record<string, string>>): string {
  const given = Object.entries({ ...filters, ...more }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return new URLSearchParams(given).toString();
}

/** The id of the next order for a break; it stays the same until one of its adjustments is added. */
export function nextCommandId({ id, adjustments }: Pick<BreakView, 'id' | 'adjustments'>): string {
  const digest = createHash('sha256').update(`${id}\n${adjustments.length}`).digest('hex');
  return `bk-${digest.slice(0, 24)}`;
}

/** The adjustment that waits for the second operator, if any. */
export function pendingOf({ adjustments }: Pick<BreakView, 'adjustments'>): AdjustmentView | undefined {
  return adjustments.find(({ status }) => status === 'proposed');
}
