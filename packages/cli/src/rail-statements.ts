import { z } from 'zod';
import type { Ask, Download, Upload } from './ask.ts';

/** The results of a statement's records that are discrepancies. */
export const discrepantResults = [
  'differs',
  'missing_here',
  'missing_there',
  'duplicate',
  'ambiguous',
  'unreadable',
] as const;

const service = 'reconcilerUrl' as const;

const record = z.object({
  line: z.number().nullable(),
  result: z.string(),
  by: z.string().nullable(),
  confidence: z.number().nullable(),
  payment: z.string().nullable(),
  how: z.array(z.string()),
  difference: z.string().nullable(),
  reference: z.string().nullable(),
  railReference: z.string().nullable(),
  amount: z.string().nullable(),
  currency: z.string().nullable(),
  at: z.string().nullable(),
  candidates: z.array(z.string()),
  reason: z.string().nullable(),
  breakId: z.string().nullable(),
});
const page = z.object({ items: z.array(record), next: z.string().nullable() });

const statement = z.object({
  id: z.string().nullable(),
  rail: z.string(),
  currency: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  status: z.enum(['receiving', 'matching', 'done', 'dropped']),
  stage: z.string().nullable(),
  lines: z.number(),
  counts: z.record(z.string(), z.number()).nullable(),
  discrepancies: z.number().nullable(),
  breaksOpened: z.number(),
  breaksHidden: z.number(),
  /** Only in a dry run: the first records that are not matched. */
  problems: z.array(record).optional(),
});

/** A line of a rail's statement or a payment without a line, and its result; amounts are decimal strings. */
export type StatementRecordView = z.output<typeof record>;

/** A rail's statement as the reconciler shows it. */
export type RailStatementView = z.output<typeof statement>;

/** How a file is matched. */
export interface StatementRequest {
  readonly file: string;
  readonly rail: string;
  /** The name of a stored mapping, or a mapping as JSON. */
  readonly mapping: string;
  readonly currency?: string;
  readonly from?: string;
  readonly to?: string;
  readonly dryRun: boolean;
}

/** The rails' statements (ADR 30), compared with our payments. */
export interface RailStatements {
  readonly upload: (
    request: StatementRequest,
    progress: (sent: number, size: number) => void,
  ) => Promise<RailStatementView>;
  readonly show: (id: string) => Promise<RailStatementView>;
  /** Records of one result, at most `limit`. */
  readonly records: (id: string, result: string, limit: number) => Promise<readonly StatementRecordView[]>;
  /** Writes every record to a file. */
  readonly export: (id: string, format: 'csv' | 'json', file: string) => Promise<void>;
}

/** Builds {@link RailStatements}. */
export function createRailStatements(ask: Ask, download: Download, upload: Upload): RailStatements {
  const path = (id: string) => `/statements/${encodeURIComponent(id)}`;
  return {
    upload: ({ file, dryRun, ...terms }, progress) =>
      upload(statement, {
        service,
        file,
        progress,
        pathOf: (sha256) => {
          const query = new URLSearchParams({ ...terms, sha256, ...(dryRun && { dryRun: 'true' }) });
          return `/statements?${query.toString()}`;
        },
      }),
    show: (id) => ask(statement, { service, path: path(id) }),
    records: async (id, result, limit) => {
      const query = new URLSearchParams({ result, limit: String(limit) });
      return (await ask(page, { service, path: `${path(id)}/records?${query.toString()}` })).items;
    },
    export: (id, format, file) => download({ service, path: `${path(id)}/export?format=${format}`, file }),
  };
}
