import {
  type ClosePreviewView,
  type CloseRecordView,
  type CloseRequest,
  type CloseView,
  closeOperations,
  dryRunOf,
} from '@pesewa/contracts';
import type { Caller } from './call.ts';

/** The results of a close that people must look at. */
export const unmatchedResults = ['differs', 'missing_there', 'unclear'] as const;

/** Daily closes (ADR 29): the payments of a day, looked up again at their rails and matched. */
export interface Closes {
  /** Makes a close, or gives the existing one. */
  readonly open: (request: CloseRequest) => Promise<CloseView>;
  readonly preview: (request: CloseRequest) => Promise<ClosePreviewView>;
  readonly show: (id: string) => Promise<CloseView>;
  /** Records of one result, at most `limit`. */
  readonly records: (
    id: string,
    result: (typeof unmatchedResults)[number],
    limit: number,
  ) => Promise<readonly CloseRecordView[]>;
  /** Writes a close with all its records to a file. */
  readonly export: (id: string, format: 'csv' | 'json', file: string) => Promise<void>;
}

/** Builds {@link Closes}. */
export function createCloses({ call, save }: Caller): Closes {
  const service = 'reconciler';
  const { open, show } = closeOperations;
  return {
    open: (body) => call(service, open, { body }),
    preview: (body) => call(service, dryRunOf(open), { query: { dryRun: 'true' }, body }),
    show: (id) => call(service, show, { parameters: { id } }),
    records: async (id, result, limit) =>
      (await call(service, closeOperations.records, { parameters: { id }, query: { result, limit } })).items,
    export: (id, format, file) =>
      save(service, closeOperations.export, { parameters: { id }, query: { format } }, file),
  };
}
