import { dryRunOf, railStatementOperations, type StatementTermsQuery } from '@pesewa/contracts';
import type { FileCaller } from './call.ts';

/** The results of a statement's records that are discrepancies. */
export const discrepantResults = [
  'differs',
  'not_in_books',
  'not_on_statement',
  'duplicate',
  'unreadable',
] as const;

/** How a file is matched. */
export interface StatementRequest extends StatementTermsQuery {
  readonly file: string;
}

type Progress = (sent: number, size: number) => void;

/** The client of the rails' statements. */
export type RailStatements = ReturnType<typeof createRailStatements>;

/** Builds the client of the rails' statements, compared with our payments. */
export function createRailStatements({ call, save, send }: FileCaller) {
  const service = 'reconciler';
  const { upload, show } = railStatementOperations;
  return {
    upload: ({ file, ...terms }: StatementRequest, progress: Progress) =>
      send(service, upload, { file, progress, given: (sha256) => ({ query: { ...terms, sha256 } }) }),
    /** Matches the file and keeps nothing. */
    tryOut: ({ file, ...terms }: StatementRequest, progress: Progress) =>
      send(service, dryRunOf(upload), {
        file,
        progress,
        given: (sha256) => ({ query: { ...terms, sha256, dryRun: 'true' as const } }),
      }),
    show: (id: string) => call(service, show, { parameters: { id } }),
    /** Records of one result, at most `limit`. */
    records: async (id: string, result: (typeof discrepantResults)[number], limit: number) => {
      const given = { parameters: { id }, query: { result, limit } };
      return (await call(service, railStatementOperations.records, given)).items;
    },
    /** Writes every record to a file. */
    export: (id: string, format: 'csv' | 'json', file: string) =>
      save(service, railStatementOperations.export, { parameters: { id }, query: { format } }, file),
  };
}
