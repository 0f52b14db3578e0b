import { describeProblem, firstProblem, JsonError, parseJson } from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { afterCursor, nextCursor } from '@pesewa/messaging';
import {
  answerJson,
  formatPageCursor,
  forNamedOperators,
  operatorOf,
  pageCursor,
  readOperatorBody,
  readOperatorQuery,
  readUpload,
  refuseOperator,
  UploadCutError,
  type UploadRate,
} from '@pesewa/runtime';
import type { Context, Hono } from 'hono';
import type { Filter } from 'mongodb';
import { z } from 'zod';
import { type StatementMapping, statementFields } from '../domain/statement-mapping.ts';
import { statementResults } from '../domain/statement-matching.ts';
import { exportHeaders, recordQueries } from '../exports.ts';
import type { IntakeRefusal } from './intake.ts';
import { type MappingStore, mappingName, statementCurrency, statementMapping } from './mappings.ts';
import type { Statements } from './statements.ts';
import type { RecordDocument, StatementStore, StatementTerms } from './store.ts';
import { exportRecords, viewRecord, viewStatement } from './views.ts';

const MAPPING_LENGTH_MAX = 4_096;
const STATEMENTS_PER_PAGE = 50;

/** The minimum speed of an upload; a gigabyte in an hour is about seventeen times as fast. */
const uploadRate: UploadRate = { idleMs: 15_000, bytesPerSecondMin: 16_384, graceMs: 15_000 };

const time = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-20T08:00:00Z' })
  .transform((text) => new Date(text))
  .optional();

const uploadQuery = z
  .strictObject(
    {
      rail: z.string({ error: 'is required' }),
      currency: statementCurrency.optional(),
      from: time,
      to: time,
      mapping: z
        .string({ error: 'is required: the name of one that is kept here, or its JSON' })
        .max(MAPPING_LENGTH_MAX, {
          error: `must have at most ${MAPPING_LENGTH_MAX} characters: keep it with PUT /statement-mappings/{name}`,
        }),
      sha256: z
        .string({ error: 'is required: the SHA-256 of the file in hex, as sha256sum prints it' })
        .regex(/^[0-9a-f]{64}$/, {
          error: 'must be the SHA-256 of the file, 64 hex digits in small letters',
        }),
      dryRun: z.enum(['true', 'false'], { error: 'must be true or false' }).optional(),
    },
    {
      error: (issue) =>
        issue.code === 'unrecognized_keys' ? `${issue.keys.join(', ')} is no parameter here` : 'is malformed',
    },
  )
  .refine(({ from, to }) => !from || !to || from < to, { error: 'from must be before to' });

const listQuery = z.object({ cursor: pageCursor.optional() });
const { recordQuery, exportQuery } = recordQueries(statementResults);

/** The dependencies of the routes of statements. */
export interface StatementRouteDeps {
  readonly statements: Statements;
  readonly statementStore: StatementStore;
  readonly mappings: MappingStore;
  /** The rails that are configured here. */
  readonly railNames: readonly string[];
  readonly sharedMayOrder: boolean;
  readonly clock: Clock;
}

/** Adds the routes of rails' statements (ADR 30). */
export function addStatementRoutes(operator: Hono, deps: StatementRouteDeps): void {
  operator.on(['POST', 'DELETE'], '/statements/*', forNamedOperators(deps.sharedMayOrder));
  operator.on(['PUT'], '/statement-mappings/*', forNamedOperators(deps.sharedMayOrder));
  addUpload(operator, deps);
  addReading(operator, deps);
  addMappings(operator, deps);
}

function addUpload(operator: Hono, deps: StatementRouteDeps): void {
  operator.post('/statements', async (context) => {
    const terms = await readTerms(context, deps);
    if (!terms.ok) return refuseOperator(context, 400, 'invalid', terms.refusal);
    const by = operatorOf(context);
    const content = readUpload(context, uploadRate, deps.clock);
    try {
      if (context.req.query('dryRun') === 'true') {
        const tried = await deps.statements.tryOut(terms.value, by, content);
        if (!tried.ok) return refuseFile(context, tried.refusal);
        const { statement, problems } = tried.value;
        const report = { ...viewStatement(statement), id: null, dryRun: true };
        return answerJson(context, 200, { ...report, problems: problems.map(viewRecord) });
      }
      const taken = await deps.statements.take(terms.value, by, content);
      if (!taken.ok) return refuseFile(context, taken.refusal);
      return answerJson(context, taken.value.status === 'done' ? 200 : 202, viewStatement(taken.value));
    } catch (error) {
      if (!(error instanceof UploadCutError)) throw error;
      return refuseOperator(
        context,
        408,
        'cut',
        `${error.message}: send the file again, it goes on from there`,
      );
    }
  });
  operator.delete('/statements/:id', async (context) => {
    const isKnown = await deps.statements.forget(context.req.param('id'));
    return isKnown ? answerJson(context, 202, { status: 'dropped' }) : unknown(context);
  });
}

function addReading(operator: Hono, { statementStore: { statements, records } }: StatementRouteDeps): void {
  operator.get('/statements', async (context) => {
    const query = readOperatorQuery(context, listQuery);
    if (!query.ok) return query.refusal;
    const filter = { trial: { $exists: false }, ...afterCursor('at', query.value.cursor) };
    const found = await statements
      .find(filter)
      .sort({ at: -1, _id: -1 })
      .limit(STATEMENTS_PER_PAGE)
      .toArray();
    const next = nextCursor(found, STATEMENTS_PER_PAGE, ({ at }) => at);
    return answerJson(context, 200, {
      items: found.map(viewStatement),
      next: next && formatPageCursor(next),
    });
  });
  operator.get('/statements/:id', async (context) => {
    const found = await statements.findOne({ _id: context.req.param('id') });
    return found ? answerJson(context, 200, viewStatement(found)) : unknown(context);
  });
  operator.get('/statements/:id/records', async (context) => {
    const query = recordQuery.safeParse(context.req.query());
    if (!query.success) return misunderstood(context, query.error);
    const statement = await statements.findOne({ _id: context.req.param('id') });
    if (!statement) return unknown(context);
    const { cursor, limit, result: wanted } = query.data;
    const found = await records
      .find(recordsOf(statement._id, wanted, cursor))
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    const next = found.length === limit ? (found.at(-1)?._id ?? null) : null;
    return answerJson(context, 200, { items: found.map(viewRecord), next });
  });
  operator.get('/statements/:id/export', async (context) => {
    const query = exportQuery.safeParse(context.req.query());
    if (!query.success) return misunderstood(context, query.error);
    const statement = await statements.findOne({ _id: context.req.param('id') });
    if (!statement) return unknown(context);
    const { format, result: wanted } = query.data;
    const cursor = records.find(recordsOf(statement._id, wanted)).sort({ _id: 1 });
    const headers = exportHeaders(statement._id, format);
    return context.newResponse(exportRecords(statement, cursor, format), { status: 200, headers });
  });
}

function addMappings(operator: Hono, { mappings, clock }: StatementRouteDeps): void {
  operator.get('/statement-mappings', async (context) => {
    const items = await mappings.list();
    return answerJson(context, 200, { items: items.map(({ _id, by }) => ({ name: _id, by })), next: null });
  });
  operator.get('/statement-mappings/:name', async (context) => {
    const found = await mappings.find(context.req.param('name'));
    return found
      ? answerJson(context, 200, { name: found._id, by: found.by, mapping: found.mapping })
      : refuseOperator(context, 404, 'not_found', 'there is no mapping of this name');
  });
  operator.put('/statement-mappings/:name', async (context) => {
    const name = mappingName.safeParse(context.req.param('name'));
    if (!name.success)
      return refuseOperator(context, 400, 'invalid', `name ${firstProblem(name.error).message}`);
    const body = await readOperatorBody(context, statementMapping);
    if (!body.ok) return body.refusal;
    const by = operatorOf(context);
    await mappings.put({ _id: name.data, mapping: body.value, at: new Date(clock.nowMs()), by });
    return answerJson(context, 200, { name: name.data, by, mapping: body.value });
  });
}

async function readTerms(
  context: Context,
  { railNames, mappings }: StatementRouteDeps,
): Promise<Result<StatementTerms, string>> {
  const query = uploadQuery.safeParse(context.req.query());
  if (!query.success) return refuse(describeProblem(firstProblem(query.error)));
  const { rail, currency = null, from = null, to = null, sha256: digest } = query.data;
  if (!railNames.includes(rail))
    return refuse(`rail: there is none of this name here, but ${railNames.join(', ')}`);
  const encoding = context.req.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') return refuse('Content-Encoding: send the file as it is, not packed');
  const mapping = await findMapping(query.data.mapping, mappings);
  if (!mapping.ok) return mapping;
  if (currency === null && mapping.value.columns.currency === undefined)
    return refuse('currency is required: the mapping names no column for it');
  return accept({ rail, currency, from, to, mapping: mapping.value, digest });
}

async function findMapping(text: string, mappings: MappingStore): Promise<Result<StatementMapping, string>> {
  if (!text.trimStart().startsWith('{')) {
    const kept = await mappings.find(text);
    return kept ? accept(kept.mapping) : refuse(`mapping: there is none kept under this name: PUT it first`);
  }
  try {
    const parsed = statementMapping.safeParse(parseJson(text));
    if (parsed.success) return accept(parsed.data);
    const problem = describeProblem(firstProblem(parsed.error));
    return refuse(`mapping: ${problem} (columns are ${statementFields.join(', ')})`);
  } catch (error) {
    if (error instanceof JsonError) return refuse('mapping: must be well-formed JSON, each key once');
    throw error;
  }
}

/** The records of a statement with one result, or with any; each uses a different index. */
function recordsOf(
  statement: string,
  wanted: (typeof statementResults)[number] | undefined,
  after = `${statement}/`,
): Filter<RecordDocument> {
  const _id = { $gt: after, $lt: `${statement}0` };
  return wanted ? { statement, result: wanted, _id } : { _id, result: { $exists: true } };
}

const statuses = {
  unreadable: 400,
  digest_differs: 400,
  too_large: 413,
  content_differs: 409,
  dropped: 409,
} as const satisfies Record<IntakeRefusal['code'], number>;

function refuseFile(context: Context, { code, message }: IntakeRefusal): Response {
  return refuseOperator(context, statuses[code], code, message);
}

function unknown(context: Context): Response {
  return refuseOperator(context, 404, 'not_found', 'there is no such statement');
}

function misunderstood(context: Context, error: z.ZodError): Response {
  return refuseOperator(context, 400, 'invalid', describeProblem(firstProblem(error)));
}
