import { currencyCode, formatCsvRows, jsonNumber } from '@pesewa/contracts';
import { accept, formatAmount, refuse } from '@pesewa/kernel';
import { type AppEnv, createReadPage } from '@pesewa/merchant-api';
import type { Logger } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { lineTypes, readCursor, writeCursor } from './domain/statement.ts';
import { csvColumns, statementOperations, statementParameters } from './statement-operations.ts';
import type { ReferencedLine, WalletMoment, WalletStatement, WalletStatements } from './wallet-statements.ts';

const { statement } = statementOperations;

/** A page of a statement with what was asked for. */
interface Page extends WalletStatement {
  readonly currency: string;
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
  readonly isFirst: boolean;
  readonly nextCursor: string | null;
}

/** The route of a wallet's statement, always of the merchant that asks (contract 10.22). */
export function createStatementRoutes(deps: {
  readonly statements: WalletStatements;
  readonly logger: Pick<Logger, 'error'>;
}): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const readPage = createReadPage(deps.logger);
  routes.get(statement.route.getRoutingPath(), async (context) => {
    let asCsv = false;
    let about: Omit<Page, 'lines' | 'nextCursor'> | undefined;
    const page = await readPage(context, statementParameters, async (merchantId, query, given) => {
      const { fromMs, toMs, before, limit } = query;
      asCsv = (given.format ?? acceptedFormat(context)) === 'csv';
      const currency = currencyCode(given.currency) ?? '';
      if (!context.get('merchant').wallets.some((wallet) => wallet.currency === currency))
        return refuse({ code: 'notFound' as const, message: `currency: you have no wallet in ${currency}` });
      const after = before === undefined ? undefined : readCursor(before);
      const isWithin =
        after && after.atMs >= (fromMs ?? 0) && after.atMs < (toMs ?? Number.POSITIVE_INFINITY);
      if (before !== undefined && !isWithin)
        return refuse({
          code: 'malformed',
          message: 'cursor must be a nextCursor of this statement, with the same from and to',
        });
      const found = await deps.statements.read({ merchantId, currency, fromMs, toMs, after, limit });
      if (!found) return accept(undefined);
      const { opening, closing, lines } = found;
      about = { opening, closing, currency, fromMs, toMs, isFirst: after === undefined };
      return accept(lines.map((line) => ({ reference: writeCursor(line), line })));
    });
    if (!page.ok) return statement.refuse(context, page.refusal.code, page.refusal.message);
    if (!about) throw new Error('a page of a statement without its balances');
    const { items, nextCursor } = page.value;
    const read: Page = { ...about, lines: items.map(({ line }) => line), nextCursor };
    return asCsv ? answerCsv(context, read) : statement.succeed(context, viewPage(read));
  });
  return routes;
}

function acceptedFormat(context: Context): 'csv' | 'json' {
  return /\btext\/csv\b/i.test(context.req.header('accept') ?? '') ? 'csv' : 'json';
}

const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

function viewPage({ currency, fromMs, toMs, opening, closing, lines, nextCursor }: Page) {
  const number = (minor: bigint) => jsonNumber(formatAmount(minor, currency));
  const viewMoment = ({ available, held }: WalletMoment) => ({
    bookedBalance: number(available + held),
    balance: number(available),
    heldBalance: number(held),
  });
  return {
    currency,
    from: timeOf(fromMs),
    to: timeOf(toMs),
    opening: viewMoment(opening),
    closing: viewMoment(closing),
    lines: lines.map((line) => ({
      ...viewWords(line),
      amount: number(line.amount),
      feeAmount: line.fee === null ? null : number(line.fee),
      bookedBalance: number(line.bookedAfter),
    })),
    nextCursor,
  };
}

function viewWords({ atMs, type, merchantReference, reference }: ReferencedLine) {
  return {
    bookedAt: new Date(atMs).toISOString(),
    type,
    description: lineTypes[type],
    merchantReference,
    transactionReference: reference,
  };
}

function answerCsv(context: Context, page: Page): Response {
  const { currency, fromMs, toMs, opening, closing, lines, isFirst, nextCursor } = page;
  const text = (minor: bigint) => formatAmount(minor, currency);
  const momentRow = (ms: number | undefined, type: string, { available, held }: WalletMoment) => {
    const words = `${type.charAt(0)}${type.slice(1).toLowerCase()} balance`;
    return [timeOf(ms) ?? '', type, words, '', '', currency, '', '', text(available + held)];
  };
  const rows = lines.map((line) => {
    const { bookedAt, type, description, merchantReference, transactionReference } = viewWords(line);
    const fee = line.fee === null ? '' : text(line.fee);
    const amounts = [text(line.amount), fee, text(line.bookedAfter)];
    return [bookedAt, type, description, merchantReference ?? '', transactionReference, currency, ...amounts];
  });
  const first = isFirst ? [[...csvColumns], momentRow(fromMs, 'OPENING', opening)] : [];
  const last = nextCursor === null ? [momentRow(toMs, 'CLOSING', closing)] : [];
  return context.newResponse(formatCsvRows([...first, ...rows, ...last]), {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="statement-${currency}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(nextCursor !== null && { 'x-next-cursor': nextCursor }),
    },
  });
}
