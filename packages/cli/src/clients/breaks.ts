import {
  type BreakDetailView,
  type BreakFilters,
  breakChanges,
  breakOperations,
  type CallOf,
} from '@pesewa/contracts';
import type { FileCaller } from './call.ts';

/** What people do with a break: the verb, and what it needs. */
export type BreakChange = {
  readonly [Verb in keyof typeof breakChanges]: {
    readonly verb: Verb;
    readonly body: CallOf<(typeof breakChanges)[Verb]>['body'];
  };
}[keyof typeof breakChanges];

const PAGE_MAX = 200;

/** Builds the client of breaks: discrepancies that wait for people, or for their cause to go away (ADR 70). */
export function createBreaks({ call, list, save }: FileCaller) {
  const service = 'reconciler';
  return {
    show: (id: string) => call(service, breakOperations.show, { parameters: { id } }),
    change: (id: string, { verb, body }: BreakChange): Promise<BreakDetailView> =>
      // A verb and its body come together.
      call(service, breakChanges[verb], { parameters: { id }, body: body as never }),
    /** Writes all of them to a file. */
    export: (filters: BreakFilters, format: 'csv' | 'json', file: string) =>
      save(service, breakOperations.export, { query: { ...filters, format } }, file),
    /** The most recently opened ones first, at most `limit`, and whether there are more. */
    list: (filters: BreakFilters, limit: number) =>
      list(service, breakOperations.list, { ...filters, limit: Math.min(limit, PAGE_MAX) }, limit),
  };
}
