import { type CloseRequest, closeOperations, dryRunOf } from '@pesewa/contracts';
import type { FileCaller } from './call.ts';

/** The results of a close that people must look at. */
export const unmatchedResults = ['differs', 'not_at_rail', 'unclear'] as const;

/** The client of daily closes. */
export type Closes = ReturnType<typeof createCloses>;

/** Builds the client of daily closes (ADR 29): the payments of a day, looked up again at their rails and matched. */
export function createCloses({ call, save }: FileCaller) {
  const service = 'reconciler';
  const { open, show } = closeOperations;
  return {
    /** Makes a close, or gives the existing one. */
    open: (body: CloseRequest) => call(service, open, { body }),
    preview: (body: CloseRequest) => call(service, dryRunOf(open), { query: { dryRun: 'true' }, body }),
    show: (id: string) => call(service, show, { parameters: { id } }),
    /** Records of one result, at most `limit`. */
    records: async (id: string, result: (typeof unmatchedResults)[number], limit: number) =>
      (await call(service, closeOperations.records, { parameters: { id }, query: { result, limit } })).items,
    /** Writes a close with all its records to a file. */
    export: (id: string, format: 'csv' | 'json', file: string) =>
      save(service, closeOperations.export, { parameters: { id }, query: { format } }, file),
  };
}
