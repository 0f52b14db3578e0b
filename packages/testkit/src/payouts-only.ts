import { referencePattern } from '@pesewa/contracts';
import { accept, formatAmount, parseAmount, refuse } from '@pesewa/kernel';
import {
  type Answered,
  commonShape,
  createCall,
  createCallbackVerifier,
  defineConnector,
  httpUrl,
  malformed,
  type NotSent,
  noCollections,
  payoutShape,
  type RailPayouts,
  reasonLine,
  type Unknown,
  unknown,
} from '@pesewa/rails';
import { z } from 'zod';

const payment = z.object({
  id: z.string().regex(referencePattern),
  state: z.enum(['waiting', 'paid', 'refused']),
  amount: z.string(),
  cost: z.string(),
  note: z.string(),
});

/** A payment as a rail of the connector `payouts-only` shows it. */
export type PayoutsOnlyPayment = z.output<typeof payment>;

const nothing = z.object({ state: z.literal('unknown') });
const purse = z.object({ amount: z.string(), currency: z.string() });
const bank = z.object({ code: z.string(), name: z.string(), currency: z.string() });

const settingsSchema = z.strictObject({
  connector: z.literal('payouts-only'),
  url: httpUrl,
  ...commonShape,
  ...payoutShape,
  ...noCollections,
});

type Call = (path: string, body?: object) => Promise<Answered | Unknown | NotSent>;

/** A connector that has payouts and nothing else; its rails exist only in tests. */
export const payoutsOnly = defineConnector({
  settings: settingsSchema,
  connect: ({ settings, guard, clock }) => {
    const call = createCall({ settings, guard, clock });
    const { url, payouts: routes, payoutFee: fee } = settings;
    const ask: Call = (path) => call({ method: 'GET', url: `${url}${path}`, headers: {}, isQuery: true });
    const send: Call = (path, body) => call({ method: 'POST', url: `${url}${path}`, headers: {}, body });
    return {
      payouts: { routes, fee, readCallback, ...payoutCalls(ask, send) },
      balances: async () => {
        const answer = await ask('/purses');
        if (answer.kind !== 'answered') return unknown(answer.why);
        const read = z.array(purse).safeParse(answer.body);
        if (!read.success) return malformed(answer, read.error);
        const amounts = read.data.map(({ amount, currency }) => parseAmount(amount, currency));
        return { kind: 'answered', wallets: amounts.flatMap((money) => (money.ok ? [money.value] : [])) };
      },
      verifyCallback: createCallbackVerifier(settings),
    };
  },
});

function payoutCalls(ask: Call, send: Call): Omit<RailPayouts, 'routes' | 'fee' | 'readCallback'> {
  return {
    submit: async ({ reference: id, amount, currency, beneficiary }) => {
      const to = { account: beneficiary.accountNumber, bank: beneficiary.bankCode };
      const answer = await send('/payments', { id, amount: formatAmount(amount, currency), currency, to });
      if (answer.kind !== 'answered') return answer;
      const read = readPayment(answer, { reference: id, currency });
      if (read.kind !== 'read') return read;
      if (read.amount !== amount) return unknown('the answer names another amount');
      if (read.state === 'refused') return { kind: 'failed', reason: read.note };
      return read.state === 'paid' ? { kind: 'completed', fee: read.cost } : { kind: 'acknowledged' };
    },
    lookUp: async (query) => {
      const answer = await ask(`/payments/${encodeURIComponent(query.reference)}`);
      if (answer.kind !== 'answered') return answer;
      // Anything else may be a proxy's 404.
      if (answer.status === 404 && nothing.safeParse(answer.body).success) return { kind: 'notFound' };
      const read = readPayment(answer, query);
      if (read.kind !== 'read') return read;
      if (read.state === 'waiting') return { kind: 'pending' };
      if (read.state === 'refused') return { kind: 'failed', reason: read.note };
      return { kind: 'completed', amount: read.amount, fee: read.cost, reason: null };
    },
    processors: async (country) => {
      const answer = await ask(`/banks?country=${encodeURIComponent(country)}`);
      if (answer.kind !== 'answered') return unknown(answer.why);
      const read = z.array(bank).safeParse(answer.body);
      if (!read.success) return malformed(answer, read.error);
      const rest = { sortCode: '', avatar: '', country, active: true, blockTransaction: false };
      return { kind: 'answered', value: read.data.map((one) => ({ ...one, ...rest, shortName: one.code })) };
    },
    enquireName: async () => unknown('the rail names no holders of accounts'),
  };
}

const readCallback: RailPayouts['readCallback'] = (bodyText) => {
  const read = payment.safeParse(readJson(bodyText));
  if (!read.success) return refuse('callback.malformed');
  const { id: reference, state, amount, cost, note } = read.data;
  return accept({
    reference,
    claimedStatus: state === 'paid' ? 'COMPLETED' : 'INITIALIZED',
    claimedAmount: amount,
    claimedCurrency: null,
    claimedFee: cost,
    claimedReason: reasonLine(note) ?? null,
  });
};

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ReadPayment {
  readonly kind: 'read';
  readonly state: PayoutsOnlyPayment['state'];
  readonly amount: bigint;
  readonly cost: bigint;
  readonly note: string;
}

function readPayment(
  answer: Answered,
  asked: { readonly reference: string; readonly currency: string },
): ReadPayment | Unknown {
  if (answer.status !== 200) return unknown(`HTTP ${answer.status}`);
  const read = payment.safeParse(answer.body);
  if (!read.success) return malformed(answer, read.error);
  if (read.data.id !== asked.reference) return unknown('the answer names another payment');
  const [amount, cost] = [read.data.amount, read.data.cost].map((text) => parseAmount(text, asked.currency));
  if (!amount?.ok || !cost?.ok) return unknown('the answer names an impossible amount');
  const { state, note } = read.data;
  return {
    kind: 'read',
    state,
    amount: amount.value.minor,
    cost: cost.value.minor,
    note: reasonLine(note) ?? 'refused by the rail',
  };
}
