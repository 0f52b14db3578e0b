import {
  dryRunOf,
  type RailStatementPreviewView,
  type RailStatementRecordView,
  type RailStatementView,
  railStatementOperations,
  type StatementTermsQuery,
} from '@pesewa/contracts';
import type { Caller } from './call.ts';

/** The results of a statement's records that are discrepancies. */
export const discrepantResults = [
  'differs',
  'missing_here',
  'missing_there',
  'duplicate',
  'ambiguous',
  'unreadable',
] as const;

/** How a file is matched. */
export interface StatementRequest extends StatementTermsQuery {
  readonly file: string;
}

type Progress = (sent: number, size: number) => void;

/** The rails' statements (ADR 30), compared with our payments. */
export interface RailStatements {
  readonly upload: (request: StatementRequest, progress: Progress) => Promise<RailStatementView>;
  /** Matches the file and keeps nothing. */
  readonly tryOut: (request: StatementRequest, progress: Progress) => Promise<RailStatementPreviewView>;
  readonly show: (id: string) => Promise<RailStatementView>;
  /** Records of one result, at most `limit`. */
  readonly records: (
    id: string,
    result: (typeof discrepantResults)[number],
    limit: number,
  ) => Promise<readonly RailStatementRecordView[]>;
  /** Writes every record to a file. */
  readonly export: (id: string, format: 'csv' | 'json', file: string) => Promise<void>;
}

/** Builds {@link RailStatements}. */
export function createRailStatements({ call, save, send }: Caller): RailStatements {
  const service = 'reconciler';
  const { upload, show } = railStatementOperations;
  return {
    upload: ({ file, ...terms }, progress) =>
      send(service, upload, { file, progress, given: (sha256) => ({ query: { ...terms, sha256 } }) }),
    tryOut: ({ file, ...terms }, progress) =>
      send(service, dryRunOf(upload), {
        file,
        progress,
        given: (sha256) => ({ query: { ...terms, sha256, dryRun: 'true' as const } }),
      }),
    show: (id) => call(service, show, { parameters: { id } }),
    records: async (id, result, limit) => {
      const given = { parameters: { id }, query: { result, limit } };
      return (await call(service, railStatementOperations.records, given)).items;
    },
    export: (id, format, file) =>
      save(service, railStatementOperations.export, { parameters: { id }, query: { format } }, file),
  };
}
