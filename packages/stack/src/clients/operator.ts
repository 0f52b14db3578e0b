import { waitUntil } from '@pesewa/infrastructure';
import { z } from 'zod';
import { type Answer, exchange, postJson } from './http.ts';

/** A wallet as the ledger shows it to operators; amounts are decimal text. */
export const walletView = z.object({
  merchantId: z.string(),
  currency: z.string(),
  available: z.string(),
  held: z.string(),
});

/** A measured drift of the reconciler; amounts are decimal strings, the drift is signed. */
export const driftView = z.object({
  rail: z.string(),
  currency: z.string(),
  railBalance: z.string(),
  float: z.string(),
  drift: z.string(),
  withinRange: z.boolean(),
});

const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next: z.string().nullable() });
const anyItem = z.record(z.string(), z.unknown());

/** An order of two operators to the ledger: the path of its kind, and its fields. */
export interface LedgerOrder {
  readonly kind: 'fund' | 'fund-float' | 'withdraw' | 'withdraw-float' | 'adjust' | 'suspense';
  readonly commandId: string;
  /** A merchant's wallet, or our float at a rail. */
  readonly target: { readonly merchantId: string } | { readonly rail: string };
  readonly currency: string;
  readonly amount: string;
  readonly direction?: 'credit' | 'debit' | 'surplus' | 'shortage';
  readonly reason?: string;
}

/** The operators' side of a running stack. */
export interface OperatorClient {
  /** Proposes as one operator and approves as the other; gives the command's id. */
  readonly order: (order: LedgerOrder) => Promise<string>;
  readonly fundWallet: (order: FundWallet) => Promise<string>;
  readonly fundFloat: (order: FundFloat) => Promise<string>;
  /** Proposes what a customer paid as one operator and approves it as the other; gives the decision's id. */
  readonly decide: (decision: AmountDecision) => Promise<string>;
  /** Whether the ledger has an order under the id. */
  readonly hasOrder: (commandId: string) => Promise<boolean>;
  /** Resolves once the ledger has applied the commands. */
  readonly untilApplied: (commandIds: readonly string[]) => Promise<void>;
  readonly wallet: (merchantId: string, currency: string) => Promise<z.output<typeof walletView>>;
  readonly entries: (reference: string) => Promise<readonly Record<string, unknown>[]>;
  readonly drift: () => Promise<readonly z.output<typeof driftView>[]>;
  /** Compares the rails' wallets with our floats now. */
  readonly compare: () => Promise<void>;
  readonly breaks: (reference: string) => Promise<readonly Record<string, unknown>[]>;
  readonly timeline: (reference: string) => Promise<readonly Record<string, unknown>[]>;
  readonly deliveries: (reference: string) => Promise<readonly Record<string, unknown>[]>;
}

/** What a customer paid, by our reference of the collection. */
interface AmountDecision {
  readonly reference: string;
  /** Decimal text. */
  readonly amount: string;
}

interface FundWallet {
  readonly commandId: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: string;
}

interface FundFloat {
  readonly commandId: string;
  readonly rail: string;
  readonly currency: string;
  readonly amount: string;
}

const APPLIED_TIMEOUT_MS = 30_000;

/** Builds an operator client over the operations addresses of the services; `approverToken` is the second operator's. */
export function createOperatorClient(options: {
  readonly operations: Readonly<Record<'ledger' | 'reconciler' | 'webhook-dispatcher', string>>;
  readonly token: string;
  readonly approverToken: string;
}): OperatorClient {
  const { operations } = options;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const headers = bearer(options.token);
  const get = async (url: string): Promise<unknown> => expectOk(await exchange(url, { headers }), url).body;
  const list = async (url: string) => page(anyItem).parse(await get(url)).items;
  const order: OperatorClient['order'] = async ({ kind, target, ...fields }) => {
    const url = `${operations.ledger}/commands`;
    const proposal = JSON.stringify({ ...target, ...fields });
    expectOk(await postJson(`${url}/${kind}`, proposal, headers), `${url}/${kind}`);
    const approval = `${url}/${fields.commandId}/approve`;
    expectOk(await postJson(approval, '{}', bearer(options.approverToken)), approval);
    return fields.commandId;
  };
  const decide: OperatorClient['decide'] = async (decision) => {
    const url = `${operations.reconciler}/decisions`;
    const proposed = expectOk(await postJson(url, JSON.stringify(decision), headers), url);
    const { id } = z.object({ id: z.string() }).parse(proposed.body);
    const approval = `${url}/${id}/approve`;
    expectOk(await postJson(approval, '{}', bearer(options.approverToken)), approval);
    return id;
  };
  const query = (reference: string) => `reference=${encodeURIComponent(reference)}`;
  return {
    order,
    decide,
    fundWallet: ({ merchantId, ...funding }) => order({ kind: 'fund', target: { merchantId }, ...funding }),
    fundFloat: ({ rail, ...funding }) => order({ kind: 'fund-float', target: { rail }, ...funding }),
    hasOrder: async (commandId) => {
      const url = `${operations.ledger}/commands/${commandId}`;
      const answer = await exchange(url, { headers });
      return answer.status !== 404 && expectOk(answer, url).status === 200;
    },
    untilApplied: async (commandIds) => {
      await waitUntil('the ledger', APPLIED_TIMEOUT_MS, async () => {
        for (const id of commandIds) {
          const { status } = z
            .object({ status: z.string() })
            .parse(await get(`${operations.ledger}/commands/${id}`));
          if (status !== 'applied') throw new Error(`the command ${id} is ${status}`);
        }
      });
    },
    wallet: async (merchantId, currency) =>
      walletView.parse(await get(`${operations.ledger}/accounts/${merchantId}/${currency}`)),
    entries: (reference) => list(`${operations.ledger}/entries?${query(reference)}`),
    drift: async () => page(driftView).parse(await get(`${operations.reconciler}/drift`)).items,
    compare: async () => {
      const url = `${operations.reconciler}/compare`;
      expectOk(await postJson(url, '{}', headers), url);
    },
    breaks: (reference) => list(`${operations.reconciler}/breaks?${query(reference)}`),
    timeline: (reference) => list(`${operations.reconciler}/timeline?${query(reference)}`),
    deliveries: (reference) => list(`${operations['webhook-dispatcher']}/deliveries?${query(reference)}`),
  };
}

function expectOk(answer: Answer, url: string): Answer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new Error(`${url} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
}
