import { describeProblem, firstProblem } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { answerJson, refuseOperator } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { z } from 'zod';
import { currencyOf } from './domain/accounts.ts';
import { viewStatementItem, viewSums } from './entry-views.ts';
import type { SharedPlace, WalletPlace } from './statement.ts';
import type { Statements } from './statements.ts';

const ITEMS_DEFAULT = 100;
const ITEMS_MAX = 500;

/**
 * How long after a time an entry with that time may still be committed: a transaction lives ten seconds at most (ADR
 * 13), and our clocks differ from the database's by less than the rest. It is compared with the snapshot's time: our
 * own clock may be past it while the snapshot is older.
 */
const FINAL_AFTER_MS = 15_000;

const WALLET = 'wallet:';

const name = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
const account = z
  .string({ error: 'is required' })
  .regex(new RegExp(`^((wallet|float):${name}|feeIncome|railCost|treasury|suspense):[A-Z]{3}$`), {
    error:
      'must be wallet:<merchant>:<currency>, float:<rail>:<currency>, or feeIncome, railCost, treasury or suspense:<currency>',
  });

const time = z
  .string({ error: 'is required' })
  .refine(isTime, { error: 'must be a day or a time in ISO 8601, UTC' })
  .transform((text) => new Date(text));

const query = z
  .object({
    account,
    from: time,
    to: time.optional(),
    cursor: z.string().max(300).optional(),
    limit: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, { error: `must be a whole number from 1 to ${ITEMS_MAX}` })
      .transform(Number)
      .refine((limit) => limit <= ITEMS_MAX, { error: `must be a whole number from 1 to ${ITEMS_MAX}` })
      .default(ITEMS_DEFAULT),
  })
  .refine(({ from, to }) => !to || from <= to, { error: 'must not be before from', path: ['to'] });

/** Adds the route of statements. */
export function addStatementRoutes(
  app: Hono,
  deps: { readonly statements: Statements; readonly clock: Clock },
): void {
  app.get('/statements', async (context) => {
    const asked = query.safeParse(context.req.query());
    if (!asked.success)
      return refuseOperator(context, 400, 'invalid', describeProblem(firstProblem(asked.error)));
    const nowMs = deps.clock.nowMs();
    const { account: name, from, cursor = '', limit } = asked.data;
    const to = asked.data.to ?? new Date(Math.max(nowMs, from.getTime()));
    const isWallet = name.startsWith(WALLET);
    const wallet = isWallet ? readWalletPlace(cursor) : undefined;
    const shared = isWallet ? undefined : readSharedPlace(cursor);
    const place = wallet ?? shared;
    const isWithin = place !== undefined && place.atMs >= from.getTime() && place.atMs < to.getTime();
    if (cursor !== '' && !isWithin) {
      return refuseOperator(context, 400, 'invalid', 'cursor must be the next of an earlier page');
    }
    const statement = isWallet
      ? await deps.statements.ofWallet(name.slice(WALLET.length), { from, to }, { after: wallet, limit })
      : await deps.statements.ofShared(name, { from, to }, { after: shared, limit });
    if (!statement)
      return refuseOperator(context, 404, 'not_found', 'no entry has touched such an account yet');
    const { opening, closing, items, next, readAtMs } = statement;
    const currency = currencyOf(name);
    return answerJson(context, 200, {
      account: name,
      currency,
      from: from.toISOString(),
      to: to.toISOString(),
      final: to.getTime() <= readAtMs - FINAL_AFTER_MS,
      opening: viewSums(opening, currency),
      closing: viewSums(closing, currency),
      items: items.map(viewStatementItem),
      next: next ? writePlace(next) : null,
    });
  });
}

/** `2026-02-01`, or `2026-02-01T08:00:00Z`. A day that the calendar does not have would silently become another one. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z)?$/.test(text)) return false;
  const time = new Date(text);
  return Number.isFinite(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
}

/** A place as text, opaque to clients. */
function writePlace(place: WalletPlace | SharedPlace): string {
  const parts = 'sequence' in place ? [place.sequence] : [place.pageId, place.position];
  return Buffer.from([place.atMs, ...parts].join(' ')).toString('base64url');
}

function readWalletPlace(cursor: string): WalletPlace | undefined {
  const [, atMs, sequence] = /^(\d{1,15}) (\d{1,18})$/.exec(readCursor(cursor)) ?? [];
  return atMs && sequence ? { atMs: Number(atMs), sequence: BigInt(sequence) } : undefined;
}

function readSharedPlace(cursor: string): SharedPlace | undefined {
  const [, atMs, pageId, position] = /^(\d{1,15}) (\S+) (\d{1,7})$/.exec(readCursor(cursor)) ?? [];
  return atMs && pageId && position ? { atMs: Number(atMs), pageId, position: Number(position) } : undefined;
}

function readCursor(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString();
}
