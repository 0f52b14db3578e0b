import {
  describeProblem,
  firstProblem,
  JsonError,
  line,
  parseJson,
  reference,
  walletKeyOf,
} from '@pesewa/contracts';
import { formatAmount, isCurrency, type Money, parseAmount } from '@pesewa/kernel';
import { answerJson, hardenApp, type Logger, readJsonText } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Commands, FundCommand } from './commands.ts';
import type { EntryDocument, LedgerStore } from './store.ts';

const BODY_BYTES_MAX = 4_096;
const ENTRIES_PER_PAGE = 100;

const name = z.string({ error: 'is required' }).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'must start with a letter or digit and have 1 to 64 letters, digits, dots, underscores or hyphens',
});

const funding = z.object({
  currency: z.string({ error: 'is required' }).refine(isCurrency, { error: 'must be an ISO 4217 code' }),
  amount: z.string({ error: 'must be a decimal text' }),
  requestedBy: line(100),
  commandId: reference.optional(),
});

const walletFunding = funding.extend({ merchantId: name });
const floatFunding = funding.extend({ rail: name });

/** Builds the operator API of the ledger (design 1); it is mounted behind the operator token. */
export function createApp(deps: {
  readonly store: Pick<LedgerStore, 'findWallet' | 'findEntries' | 'findFloats'>;
  readonly commands: Commands;
  readonly logger: Logger;
}): Hono {
  const { store, commands } = deps;
  const app = new Hono();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) => refused(context, 500, 'broken', 'something broke on our side'),
    notFound: (context) => refused(context, 404, 'not_found', 'there is nothing at this path'),
  });

  app.get('/accounts/:merchantId/:currency', async (context) => {
    const { merchantId, currency } = context.req.param();
    const wallet = await store.findWallet(walletKeyOf(merchantId, currency));
    if (!wallet) return refused(context, 404, 'not_found', 'no entry has touched such a wallet yet');
    return answerJson(context, 200, {
      merchantId,
      currency,
      available: formatAmount(wallet.available, currency),
      held: formatAmount(wallet.held, currency),
      sequence: Number(wallet.sequence),
    });
  });

  app.get('/entries', async (context) => {
    const wanted = reference.safeParse(context.req.query('reference'));
    if (!wanted.success)
      return refused(context, 400, 'invalid', `reference ${firstProblem(wanted.error).message}`);
    const cursor = context.req.query('cursor') ?? '';
    if (cursor !== '' && !cursor.startsWith(`${wanted.data}/`)) {
      return refused(context, 400, 'invalid', 'cursor must be the next of an earlier page');
    }
    const entries = await store.findEntries(wanted.data, cursor, ENTRIES_PER_PAGE);
    const next = entries.length === ENTRIES_PER_PAGE ? (entries.at(-1)?._id ?? null) : null;
    return answerJson(context, 200, { items: entries.map(viewEntry), next });
  });

  app.get('/floats', async (context) => {
    const floats = await store.findFloats();
    const items = floats.map(({ rail, currency, balance }) => ({
      rail,
      currency,
      balance: formatAmount(balance, currency),
    }));
    return answerJson(context, 200, { items, next: null });
  });

  app.post('/commands/fund', async (context) => {
    const body = await readFunding(context, walletFunding);
    return body.ok ? take(context, commands, 'fund', body.value.merchantId, body.value) : body.answer;
  });

  app.post('/commands/fund-float', async (context) => {
    const body = await readFunding(context, floatFunding);
    return body.ok ? take(context, commands, 'fundFloat', body.value.rail, body.value) : body.answer;
  });

  app.get('/commands/:commandId', async (context) => {
    const { commandId } = context.req.param();
    const status = await commands.status(commandId);
    if (!status) return refused(context, 404, 'not_found', 'there is no such command');
    return answerJson(context, 200, { commandId, status });
  });

  return app;
}

type Body<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly answer: Response };

async function readFunding<Value>(context: Context, schema: z.ZodType<Value>): Promise<Body<Value>> {
  const invalid = (message: string) =>
    ({ ok: false, answer: refused(context, 400, 'invalid', message) }) as const;
  const body = await readJsonText(context, BODY_BYTES_MAX);
  if (!body.ok) return invalid(bodyProblems[body.refusal]);
  try {
    const parsed = schema.safeParse(parseJson(body.text));
    return parsed.success
      ? { ok: true, value: parsed.data }
      : invalid(describeProblem(firstProblem(parsed.error)));
  } catch (error) {
    if (error instanceof JsonError) return invalid('the body must be well-formed JSON, each key once');
    throw error;
  }
}

const bodyProblems = {
  'body.too_large': `the body must have at most ${BODY_BYTES_MAX} bytes`,
  'body.not_json': 'Content-Type must be application/json',
  'body.not_utf8': 'the body must be UTF-8',
} as const;

async function take(
  context: Context,
  commands: Commands,
  kind: FundCommand['kind'],
  target: string,
  body: z.output<typeof funding>,
): Promise<Response> {
  const amount = positiveAmount(body.amount, body.currency);
  if (!amount) {
    const message = `amount must be a positive decimal text, no finer than ${body.currency} allows`;
    return refused(context, 400, 'invalid', message);
  }
  const taken = await commands.submit(
    { kind, target, amount, requestedBy: body.requestedBy },
    body.commandId,
  );
  if (!taken.ok) return refused(context, 409, 'duplicate', 'commandId was used before for another command');
  return answerJson(context, 202, { commandId: taken.value });
}

function positiveAmount(text: string, currency: string): Money | undefined {
  const amount = parseAmount(text, currency);
  return amount.ok && amount.value.minor > 0n ? amount.value : undefined;
}

function viewEntry({ _id, amount, fee, walletSequence, at, ...entry }: EntryDocument) {
  return {
    id: _id,
    ...entry,
    amount: formatAmount(amount, entry.currency),
    ...(fee !== undefined && { fee: formatAmount(fee, entry.currency) }),
    ...(walletSequence !== undefined && { walletSequence: Number(walletSequence) }),
    at: at.toISOString(),
  };
}

function refused(context: Context, status: 400 | 404 | 409 | 500, code: string, message: string): Response {
  return answerJson(context, status, { code, message });
}
