import { z } from 'zod';
import type { Ask, Download } from './ask.ts';

const counts = z.object({
  matched: z.number(),
  differs: z.number(),
  missing_there: z.number(),
  unclear: z.number(),
  pending: z.number(),
});

const close = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  rail: z.string().nullable(),
  status: z.enum(['gathering', 'asking', 'done']),
  payments: z.number().nullable(),
  done: z.number().nullable(),
  /** Null while there are too many to count. */
  results: counts.nullable(),
  /** How many of its payments were reported only after the close had been made. */
  late: z.number(),
  requestedBy: z.string(),
  requestedAt: z.string(),
  finishedAt: z.string().nullable(),
});

/** A close as the reconciler shows it, times in UTC. */
export type CloseView = z.output<typeof close>;

const preview = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  rail: z.string().nullable(),
  exists: z.boolean(),
  payments: z.number(),
  rails: z.array(z.object({ rail: z.string(), payments: z.number(), atLeastSeconds: z.number() })),
});

/** What a close would check. */
export type ClosePreview = z.output<typeof preview>;

const side = z.object({
  status: z.string().nullable(),
  amount: z.string().nullable(),
  fee: z.string().nullable(),
});
const record = z.object({
  reference: z.string(),
  kind: z.string(),
  rail: z.string(),
  currency: z.string(),
  result: z.string(),
  ours: side,
  theirs: side,
  differences: z.array(z.object({ field: z.string(), amount: z.string() })),
  why: z.string().nullable(),
  breakId: z.string().nullable(),
});
const page = z.object({ items: z.array(record), next: z.string().nullable() });

/** A payment of a close; amounts are decimal strings, null if unknown. */
export type CloseRecordView = z.output<typeof record>;

/** The period of a close: a day, or two times. */
export type CloseRequest = ({ readonly date: string } | { readonly from: string; readonly to: string }) & {
  readonly rail?: string;
};

/** The results of a close that people must look at. */
export const openResults = ['differs', 'missing_there', 'unclear'] as const;

/** Daily closes (ADR 29): the payments of a day, looked up again at their rails and matched. */
export interface Closes {
  /** Makes a close, or gives the existing one. */
  readonly open: (request: CloseRequest) => Promise<CloseView>;
  readonly preview: (request: CloseRequest) => Promise<ClosePreview>;
  readonly show: (id: string) => Promise<CloseView>;
  /** Records of one result, at most `limit`. */
  readonly records: (
    id: string,
    result: (typeof openResults)[number],
    limit: number,
  ) => Promise<readonly CloseRecordView[]>;
  /** Writes a close with all its records to a file. */
  readonly export: (id: string, format: 'csv' | 'json', file: string) => Promise<void>;
}

/** Builds {@link Closes}. */
export function createCloses(ask: Ask, download: Download): Closes {
  const service = 'reconcilerUrl' as const;
  const path = (id: string) => `/closes/${encodeURIComponent(id)}`;
  return {
    open: (body) => ask(close, { service, path: '/closes', body }),
    preview: (body) => ask(preview, { service, path: '/closes?dryRun=true', body }),
    show: (id) => ask(close, { service, path: path(id) }),
    records: async (id, result, limit) => {
      const query = new URLSearchParams({ result, limit: String(limit) });
      return (await ask(page, { service, path: `${path(id)}/records?${query.toString()}` })).items;
    },
    export: (id, format, file) => download({ service, path: `${path(id)}/export?format=${format}`, file }),
  };
}
