import {
  describeProblem,
  firstProblem,
  JsonError,
  parseJson,
  railStatementOperations,
  type StatementMapping,
  statementFields,
  statementMapping,
  statementMappingOperations,
} from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import {
  answer,
  isCompressed,
  readUpload,
  refused,
  type ServedAnswer,
  type ServedRequest,
  serveOperations,
  UploadAbortedError,
  type UploadRate,
} from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Collection } from 'mongodb';
import { z } from 'zod';
import { showRuns } from '../matching/routes.ts';
import type { Statements } from './statements.ts';
import type { StatementStore, StatementTerms } from './store.ts';
import { statementColumns, viewRecord, viewStatement } from './views.ts';

/** The minimum speed of an upload; a gigabyte in an hour is about seventeen times as fast. */
const uploadRate: UploadRate = { idleMs: 15_000, bytesPerSecondMin: 16_384, graceMs: 15_000 };

/** A kept mapping, by its name. A statement has the mapping that it was read by, so replacing one changes no statement. */
export interface MappingDocument {
  readonly _id: string;
  readonly mapping: StatementMapping;
  readonly at: Date;
  readonly by: string;
}

const mappingName = z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, {
  error: 'must have 1 to 40 of a-z, 0-9 and -, and begin with a letter',
});
const MAPPINGS_MAX = 200;

/** The dependencies of the routes of statements. */
export interface StatementRouteDeps {
  readonly statements: Statements;
  readonly statementStore: StatementStore;
  readonly mappings: Collection<MappingDocument>;
  /** The rails that are configured here. */
  readonly railNames: readonly string[];
  /** The rails whose statement is their close. */
  readonly byStatement: readonly string[];
  readonly clock: Clock;
}

/** Adds the routes of rails' statements. */
export function addStatementRoutes(operator: Hono, deps: StatementRouteDeps): void {
  const shown = {
    noun: 'statement',
    store: deps.statementStore,
    viewRun: viewStatement,
    viewRecord,
    columns: statementColumns,
  };
  serveOperations(operator, railStatementOperations, {
    upload: (request) => upload(deps, request),
    drop: async ({ parameters: { id } }) =>
      (await deps.statements.forget(id))
        ? answer(202, { status: 'dropped' as const })
        : refused('not_found', 'id: there is no such statement'),
    ...showRuns(shown),
  });
  addMappings(operator, deps);
}

type Upload = typeof railStatementOperations.upload;

async function upload(
  deps: StatementRouteDeps,
  { query, operator: by, context }: ServedRequest<Upload>,
): Promise<ServedAnswer<Upload>> {
  if (isCompressed(context.req.header('content-encoding')))
    return refused('invalid', 'Content-Encoding: send the file as it is, not packed');
  const terms = await readTerms(query, deps);
  if (!terms.ok) return refused('invalid', terms.refusal);
  const content = readUpload(context, uploadRate, deps.clock);
  try {
    if (query.dryRun === 'true') {
      const tried = await deps.statements.tryOut(terms.value, by, content);
      if (!tried.ok) return refused(tried.refusal.code, tried.refusal.message);
      const { statement, problems } = tried.value;
      const report = { ...viewStatement(statement), id: null, dryRun: true as const };
      return answer(200, { ...report, problems: problems.map(viewRecord) });
    }
    const taken = await deps.statements.take(terms.value, by, content);
    if (!taken.ok) return refused(taken.refusal.code, taken.refusal.message);
    return answer(taken.value.stage === 'done' ? 200 : 202, viewStatement(taken.value));
  } catch (error) {
    if (!(error instanceof UploadAbortedError)) throw error;
    return refused('cut', `${error.message}: send the file again`);
  }
}

function addMappings(operator: Hono, { mappings, clock }: StatementRouteDeps): void {
  serveOperations(operator, statementMappingOperations, {
    list: async () => {
      const items = await mappings.find().sort({ _id: 1 }).limit(MAPPINGS_MAX).toArray();
      return answer(200, { items: items.map(({ _id, by }) => ({ name: _id, by })), next: null });
    },
    show: async ({ parameters: { name } }) => {
      const found = await mappings.findOne({ _id: name });
      return found
        ? answer(200, { name, by: found.by, mapping: found.mapping })
        : refused('not_found', 'there is no mapping of this name');
    },
    put: async ({ parameters, body, operator: by }) => {
      const name = mappingName.safeParse(parameters.name);
      if (!name.success) return refused('invalid', `name ${firstProblem(name.error).message}`);
      const kept = { mapping: body, at: new Date(clock.nowMs()), by };
      await mappings.replaceOne({ _id: name.data }, kept, { upsert: true });
      return answer(200, { name: name.data, by, mapping: body });
    },
  });
}

async function readTerms(
  query: ServedRequest<Upload>['query'],
  { railNames, byStatement, mappings, clock }: StatementRouteDeps,
): Promise<Result<StatementTerms, string>> {
  const { rail, currency = null, from = null, to = null, sha256: digest } = query;
  if (!railNames.includes(rail))
    return refuse(`rail: there is none of this name here, but ${railNames.join(', ')}`);
  if (to !== null && to.getTime() > clock.nowMs())
    return refuse('to must not be in the future: payments that are still to end can have no line');
  const mapping = await findMapping(query.mapping, mappings);
  if (!mapping.ok) return mapping;
  if (currency === null && mapping.value.columns.currency === undefined)
    return refuse('currency is required: the mapping names no column for it');
  if (byStatement.includes(rail) && (!from || !to) && mapping.value.columns.time === undefined)
    return refuse('from and to are required: the mapping names no column for the time');
  return accept({ rail, currency, from, to, mapping: mapping.value, digest });
}

async function findMapping(
  text: string,
  mappings: Collection<MappingDocument>,
): Promise<Result<StatementMapping, string>> {
  if (!text.trimStart().startsWith('{')) {
    const kept = await mappings.findOne({ _id: text });
    return kept ? accept(kept.mapping) : refuse('mapping: there is none kept under this name: PUT it first');
  }
  try {
    const parsed = statementMapping.safeParse(parseJson(text));
    if (parsed.success) return accept(parsed.data);
    const problem = describeProblem(firstProblem(parsed.error));
    return refuse(`mapping: ${problem} (columns are ${statementFields.join(', ')})`);
  } catch (error) {
    if (error instanceof JsonError) return refuse(`mapping: ${error.message}`);
    throw error;
  }
}
