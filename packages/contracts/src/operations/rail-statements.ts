import { isCurrency } from '@pesewa/kernel';
import { z } from 'zod';
import { pageOf } from './lists.ts';
import { runOperations } from './match-runs.ts';
import { declareOperations } from './operation.ts';
import { statementMapping } from './statement-mapping.ts';

const MAPPING_LENGTH_MAX = 4_096;

/** Every result that a record of a statement can have. */
export const railStatementResults = [
  'matched',
  'differs',
  'not_in_books',
  'not_on_statement',
  'duplicate',
  'unreadable',
  'set_aside',
] as const;

const nullable = z.string().nullable();

const recordView = z
  .object({
    id: z.string(),
    /** Null for a payment without a line. */
    line: z.number().nullable(),
    result: z.enum(railStatementResults),
    payment: nullable,
    differsIn: z.array(z.string()).readonly(),
    difference: nullable,
    reference: nullable,
    railReference: nullable,
    /** What the line has in place of our reference; of a long number the end alone. */
    otherReference: nullable,
    kind: nullable,
    status: nullable,
    /** The rail's own word for the status. */
    statusWord: nullable,
    amount: nullable,
    fee: nullable,
    currency: nullable,
    at: nullable,
    reason: nullable,
    breakId: nullable,
    alsoCoveredBy: z.array(z.string()).readonly(),
  })
  .meta({ id: 'StatementRecord' });

const statementView = z
  .object({
    id: z.string(),
    rail: z.string(),
    currency: nullable,
    from: nullable,
    to: nullable,
    sha256: z.string(),
    status: z.enum(['receiving', 'matching', 'done', 'dropped']),
    stage: nullable,
    lines: z.number(),
    /** What became of every line of the file; null until all of it is stored. */
    file: z
      .object({
        before: z.number(),
        heading: z.number(),
        blank: z.number(),
        records: z.number(),
        continued: z.number(),
        /** Options of the mapping by which lines that are unreadable could be read. */
        proposal: z.record(z.string(), z.unknown()).nullable(),
      })
      .nullable(),
    /** Null until it is matched. */
    counts: z.record(z.string(), z.number()).nullable(),
    discrepancies: z.number().nullable(),
    breaksOpened: z.number(),
    breaksHidden: z.number(),
    uploadedBy: z.string(),
    uploadedAt: z.string(),
    doneAt: nullable,
  })
  .meta({ id: 'Statement' });

const triedStatementView = statementView.extend({
  id: z.null(),
  dryRun: z.literal(true),
  /** The first records that are not matched. */
  problems: z.array(recordView),
});

const mappingView = z.object({ name: z.string(), by: z.string(), mapping: z.unknown() });

/** A rail's statement; times in UTC. */
export type RailStatementView = z.output<typeof statementView>;

/** What the matching of a statement would give. */
export type RailStatementPreviewView = z.output<typeof triedStatementView>;

/** A line of a rail's statement or a payment without a line, and its result; amounts are decimal text. */
export type RailStatementRecordView = z.output<typeof recordView>;

const time = z.iso
  .datetime({ offset: true, error: 'must be a time with its zone, such as 2026-11-20T08:00:00Z' })
  .transform((text) => new Date(text))
  .optional();

/** A currency of a statement. */
export const statementCurrency = z
  .string()
  .refine(isCurrency, { error: 'must be an ISO 4217 code in capitals, such as KES' });

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
          error: `must have at most ${MAPPING_LENGTH_MAX} characters: shorten it, or give the name of one that is kept`,
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

/** How a file is matched, besides its SHA-256. */
export type StatementTermsQuery = Omit<z.input<typeof uploadQuery>, 'sha256' | 'dryRun'>;

/** The rails' statements, compared with our payments. */
export const railStatementOperations = declareOperations({
  upload: {
    method: 'post',
    path: '/statements',
    summary: 'Takes and matches a file; sent again, it is the same statement',
    takesFile: true,
    query: uploadQuery,
    answers: { 200: statementView, 202: statementView },
    dryRun: triedStatementView,
    refusals: {
      invalid: 400,
      unreadable: 400,
      digest_differs: 400,
      too_large: 413,
      dropped: 409,
      cut: 408,
    },
  },
  drop: {
    method: 'delete',
    path: '/statements/{id}',
    summary: 'Drops a statement with its records; its breaks stay',
    answers: { 202: z.object({ status: z.literal('dropped') }) },
    refusals: { not_found: 404 },
  },
  ...runOperations({
    path: 'statements',
    run: statementView,
    record: recordView,
    results: railStatementResults,
    called: ['a statement', 'statements', "a statement's lines and the payments without one"],
  }),
});

/** The mappings of statements that are kept under a name. */
export const statementMappingOperations = declareOperations({
  list: {
    method: 'get',
    path: '/statement-mappings',
    summary: 'Lists the mappings by name',
    answers: { 200: pageOf(mappingView.omit({ mapping: true })) },
  },
  show: {
    method: 'get',
    path: '/statement-mappings/{name}',
    summary: 'Shows a mapping',
    answers: { 200: mappingView },
    refusals: { not_found: 404 },
  },
  put: {
    method: 'put',
    path: '/statement-mappings/{name}',
    summary: 'Keeps a mapping under a name; a statement keeps the one it was read by',
    body: statementMapping,
    answers: { 200: mappingView },
    refusals: { invalid: 400 },
  },
});
