import {
  type AnswerOf,
  accountOperations,
  breakOperations,
  type CallOf,
  comparisonOperations,
  decisionOperations,
  deliveryOperations,
  type Operation,
  type OrderKindName,
  orderOperations,
  pollOperations,
  proposalOperations,
  readAnswer,
  requestOf,
  timelineOperations,
} from '@pesewa/contracts';
import { waitUntil } from '@pesewa/infrastructure';
import { exchange } from './http.ts';

/** An order of two operators to the ledger: the path of its kind, and its fields. */
export interface LedgerOrder {
  readonly kind: OrderKindName;
  readonly commandId: string;
  /** A merchant's wallet, or our float at a rail. */
  readonly target: { readonly merchantId: string } | { readonly rail: string };
  readonly currency: string;
  readonly amount: string;
  readonly direction?: 'credit' | 'debit' | 'surplus' | 'shortage';
  readonly reason?: string;
}

/** The operators' side of a running stack. */
export type OperatorClient = ReturnType<typeof createOperatorClient>;

type Funding = Omit<LedgerOrder, 'kind' | 'target'>;

interface Options {
  readonly operations: Readonly<Record<'ledger' | 'reconciler' | 'webhook-dispatcher', string>>;
  readonly token: string;
  readonly approverToken: string;
}

const APPLIED_TIMEOUT_MS = 30_000;

/** Builds an operator client over the operations addresses of the services; `approverToken` is the second operator's. */
export function createOperatorClient(options: Options) {
  const call = createCall(options);
  const show = (commandId: string) => call('ledger', orderOperations.show, { parameters: { commandId } });
  /** Proposes as one operator and approves as the other; gives the command's id. */
  const order = async ({ kind, target, ...fields }: LedgerOrder): Promise<string> => {
    const { commandId } = fields;
    // Which fields go with which kind is known to the callers, and judged by the ledger.
    await call('ledger', proposalOperations[kind], { body: { ...target, ...fields } as never });
    await call('ledger', orderOperations.approve, { parameters: { commandId } });
    return commandId;
  };
  return {
    order,
    /** Proposes what a customer paid, as decimal text, and approves it as the other operator; gives the decision's id. */
    decide: async (decision: { readonly reference: string; readonly amount: string }) => {
      const { id } = await call('reconciler', decisionOperations.propose, { body: decision });
      await call('reconciler', decisionOperations.approve, { parameters: { id } });
      return id;
    },
    fundWallet: ({ merchantId, ...funding }: Funding & { readonly merchantId: string }) =>
      order({ kind: 'fund', target: { merchantId }, ...funding }),
    fundFloat: ({ rail, ...funding }: Funding & { readonly rail: string }) =>
      order({ kind: 'fund-float', target: { rail }, ...funding }),
    /** Whether the ledger has an order under the id. */
    hasOrder: async (commandId: string) => {
      try {
        await show(commandId);
        return true;
      } catch (error) {
        if (error instanceof AnswerError && error.status === 404) return false;
        throw error;
      }
    },
    /** Resolves once the ledger has applied the commands. */
    untilApplied: async (commandIds: readonly string[]) => {
      await waitUntil('the ledger', APPLIED_TIMEOUT_MS, async () => {
        for (const id of commandIds) {
          const { status } = await show(id);
          if (status !== 'applied') throw new Error(`the command ${id} is ${status}`);
        }
      });
    },
    wallet: (merchantId: string, currency: string) =>
      call('ledger', accountOperations.wallet, { parameters: { merchantId, currency } }),
    entries: async (reference: string) =>
      (await call('ledger', accountOperations.entries, { query: { reference } })).items,
    drift: async () => (await call('reconciler', comparisonOperations.drift, {})).items,
    /** Compares the rails' wallets with our floats now. */
    compare: async () => {
      await call('reconciler', comparisonOperations.compare, {});
    },
    breaks: async (reference: string) =>
      (await call('reconciler', breakOperations.list, { query: { reference } })).items,
    timeline: async (reference: string) =>
      (await call('reconciler', timelineOperations.show, { query: { reference } })).items,
    /** Brings the next poll of a payment forward; gives what the reconciler knows of it. */
    poll: async (reference: string): Promise<'polled' | 'ended' | 'unknown'> => {
      try {
        await call('reconciler', pollOperations.poll, { body: { reference } });
        return 'polled';
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        if (error.status === 404) return 'unknown';
        if (error.status === 409) return 'ended';
        throw error;
      }
    },
    deliveries: async (reference: string) =>
      (await call('webhook-dispatcher', deliveryOperations.list, { query: { reference } })).items,
  };
}

/** Calls an operation of a service, with the second operator's token if it needs one. */
function createCall(options: Options) {
  return async <One extends Operation>(
    service: keyof Options['operations'],
    operation: One,
    given: CallOf<One>,
  ): Promise<AnswerOf<One>> => {
    const { method, path, body } = requestOf(operation, given);
    const token = operation.caller === 'second' ? options.approverToken : options.token;
    const answer = await exchange(`${options.operations[service]}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // Numbers of operator APIs are small; only amounts keep their text, and they are texts.
    const parsed: unknown = answer.body === undefined ? undefined : JSON.parse(answer.text);
    const read = readAnswer(operation, { status: answer.status, body: parsed });
    if (read !== undefined) return read;
    throw new AnswerError(
      `${method} ${path} of ${service} answered ${answer.status}: ${answer.text.slice(0, 300)}`,
      answer.status,
    );
  };
}

/** An answer that the operation does not give. */
class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}
