import { collectionWebhook, parseJson, type payinResponse } from '@pesewa/contracts';
import type { CollectionRequest } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Scenario } from './scenario.ts';

/** One way in which a customer takes part (contract 2.8), with an operator of it. */
export interface Flow {
  readonly operatorCode: string;
  readonly country: CollectionRequest['country'];
  readonly currency: string;
  /** What stands before the four digits. */
  readonly number: string;
  readonly completes: boolean;
  readonly otp?: string;
  /** What of an answer to payin is not as of a single STK push. */
  readonly answer: object;
}

const completion = {
  paymentCompletionRequired: true,
  paymentCompletionUrl: '/collection/v1/complete-payin',
};
const gambia = { country: 'GM', currency: 'GMD', completes: true } as const;
const ivoryCoast = { country: 'CI', currency: 'XOF' } as const;

/** The five flows. */
export const flows = {
  stk: {
    operatorCode: 'KESAF',
    country: 'KE',
    currency: 'KES',
    number: '25471234',
    completes: false,
    answer: {},
  },
  link: {
    ...ivoryCoast,
    operatorCode: 'CIWAV',
    number: '225070712',
    completes: false,
    answer: { redirectionRequired: true },
  },
  stkThenComplete: { ...gambia, operatorCode: 'GMAFR', number: '220345', answer: completion },
  otp6: {
    ...gambia,
    operatorCode: 'GMQMO',
    number: '220346',
    otp: '123456',
    answer: { ...completion, otpIsRequired: true, lengthOfOtp: '6' },
  },
  otp4: {
    ...ivoryCoast,
    operatorCode: 'CIORA',
    number: '225070713',
    completes: true,
    otp: '1234',
    answer: { ...completion, otpIsRequired: true, lengthOfOtp: '4' },
  },
} as const satisfies Readonly<Record<string, Flow>>;

type FlowName = keyof typeof flows;

/** Their names. */
export const flowNames = Object.keys(flows) as readonly FlowName[];

const completing = ['stkThenComplete', 'otp6'] as const;

/** What must be true of a collection of 200 once all is quiet. */
interface BaseScenario {
  readonly digits: string;
  readonly what: string;
  /** The flows that it is told by, besides STK. */
  readonly flows?: readonly FlowName[];
  /** Whether the answer to payin was of no use. */
  readonly unclear?: boolean;
  readonly status?: 'COMPLETED' | 'FAILED' | 'PENDING';
  /** Kind and amount of each ledger entry. */
  readonly entries?: readonly string[];
  /** How often the rail executed it, and how often it was asked to initiate it. */
  readonly executions?: number;
  readonly submissions?: number;
  /** What each webhook of the merchant says. */
  readonly webhooks?: readonly string[];
  readonly breaks?: readonly string[];
  /** What is otherwise where no callback ever arrives. */
  readonly withoutCallbacks?: Omit<BaseScenario, 'digits' | 'flows' | 'withoutCallbacks'>;
}

const completed = {
  unclear: false,
  status: 'COMPLETED',
  // Our fee is 1.5 %, the rail's 1 %.
  entries: ['collect 197', 'fee 3', 'railCost 2'],
  executions: 1,
  submissions: 1,
  webhooks: ['COMPLETED 200 3'],
  breaks: [] as readonly string[],
} as const;
const failed = { status: 'FAILED', entries: [], executions: 0, webhooks: ['FAILED 0 0 FAILED'] } as const;
const pending = { status: 'PENDING', entries: [], webhooks: [] } as const;

const baseScenarios: readonly BaseScenario[] = [
  {
    digits: '0017',
    what: 'pending for ever: a break for people, and nothing credited',
    flows: flowNames,
    ...pending,
    executions: 0,
    breaks: ['payment.stuck'],
  },
  { digits: '0008', what: 'pending for 10 s, no callback', flows: ['link', 'otp6'] },
  { digits: '0013', what: 'the status check says NOT FOUND for 5 s', flows: ['link', 'otp6'] },
  {
    digits: '0006',
    what: 'not executed and reset: initiated again after the grace time',
    flows: ['link', ...completing],
    unclear: true,
    submissions: 2,
  },
  { digits: '0007', what: 'executed, the answer never comes', flows: completing, unclear: true },
  {
    digits: '0015',
    // A link that was certainly not asked for is refused at once: it could reach nobody.
    what: 'answers 429 twice',
    flows: completing,
    unclear: true,
    submissions: 3,
  },
  { digits: '9999', what: 'succeeds', flows: flowNames },
  {
    digits: '0001',
    what: 'fails, and the callback tells why',
    flows: flowNames,
    ...failed,
    webhooks: ['FAILED 0 0 CUSTOMER DECLINED'],
    // Only a callback tells why (contract 2.10).
    withoutCallbacks: { what: 'fails, and nobody tells why', ...failed },
  },
  { digits: '0002', what: 'succeeds without a callback', flows: ['otp6'] },
  { digits: '0003', what: 'fails without a callback', flows: ['otp6'], ...failed },
  { digits: '0004', what: 'executed, yet answers HTTP 500', flows: ['link', ...completing], unclear: true },
  { digits: '0005', what: 'executed, yet the connection resets', flows: completing, unclear: true },
  { digits: '0009', what: 'succeeds, callback three times' },
  { digits: '0010', what: 'the callback arrives before the answer', flows: flowNames },
  {
    digits: '0011',
    what: 'callbacks contradict',
    flows: ['otp6'],
    breaks: ['callback.denied'],
    withoutCallbacks: { what: 'callbacks that contradict, heard by nobody', breaks: [] },
  },
  {
    digits: '0012',
    what: 'a callback with another amount: people decide',
    flows: ['link', 'otp6'],
    ...pending,
    breaks: ['collection.amount_differs'],
    // Without a callback the amount asked counts (ADR 23).
    withoutCallbacks: { what: 'a callback with another amount, heard by nobody', ...completed },
  },
  { digits: '0014', what: 'just succeeds: collections are not reversed' },
  { digits: '0016', what: 'executed, answers malformed JSON', flows: completing, unclear: true },
];

/** A scenario by one of its flows. */
export interface CollectionScenario extends BaseScenario {
  readonly flow: FlowName;
}

/** Every magic number of the simulator (contract 10.18) by every flow that it is told by, those that take longest first. */
export const collectionScenarios: readonly CollectionScenario[] = baseScenarios.flatMap(
  (collectionScenario) =>
    [...new Set<FlowName>(['stk', ...(collectionScenario.flows ?? [])])].map((flow) => ({
      ...collectionScenario,
      flow,
    })),
);

/** What payin answers. */
export type Payin = z.output<typeof payinResponse>;

/** Names a scenario of a collection within the test. */
export const labelOf = ({ digits, flow }: Pick<CollectionScenario, 'digits' | 'flow'>) => `${flow}-${digits}`;

/** What the merchant asks for in a scenario. */
function requestOf(
  scenario: Scenario,
  collectionScenario: Pick<CollectionScenario, 'digits' | 'flow'>,
): CollectionRequest {
  const { operatorCode, country, currency, number } = flows[collectionScenario.flow];
  const customerNumber = `${number}${collectionScenario.digits}`;
  const reference = scenario.reference(labelOf(collectionScenario));
  return { reference, amount: '200', operatorCode, country, currency, customerNumber };
}

/** The merchant's part: payin, whose answer it gives, and the completion once the rail has the collection. */
export async function playCollection(
  scenario: Scenario,
  collectionScenario: CollectionScenario,
): Promise<Payin> {
  const request = requestOf(scenario, collectionScenario);
  const flow: Flow = flows[collectionScenario.flow];
  const answer = await scenario.demo.initiateCollection(request);
  if (!flow.completes) return answer;
  await eventually(async () => {
    const { responseDetails } = await scenario.demo.completeCollection(request, flow.otp);
    expect(responseDetails, labelOf(collectionScenario)).toEqual({
      responseCode: '09',
      responseMessage: 'PENDING',
    });
  }, 60_000);
  return answer;
}

function webhookText(said: z.output<typeof collectionWebhook>): string {
  const why = said.failure_reason === undefined ? '' : ` ${said.failure_reason}`;
  return `${said.status} ${said.amount_received} ${said.transaction_fee}${why}`;
}

/** Everything that is to be seen of a collection, from every side. */
export async function lookAtCollection(
  scenario: Scenario,
  collectionScenario: CollectionScenario,
  ours: string,
) {
  const request = requestOf(scenario, collectionScenario);
  const { simulator, operator } = scenario.stack;
  const [status, journal, entries, received, breaks] = await Promise.all([
    scenario.demo.checkCollection(request),
    simulator.journal(ours),
    operator.entries(ours),
    simulator.received(scenario.merchantId, request.reference),
    operator.breaks(ours),
  ]);
  const requests = journal.filter(({ kind }) => kind === 'request');
  const completions = requests.filter(({ operation }) => operation === 'complete');
  const webhooks = received.map(({ body }) => collectionWebhook.parse(parseJson(body)));
  return {
    status: status.responseMessage,
    entries: entries.map(({ kind, amount }) => `${String(kind)} ${String(amount)}`).toSorted(),
    executions: journal.filter(({ kind, outcome }) => kind === 'execution' && outcome === 'COMPLETED').length,
    submissions: requests.filter(({ operation }) => operation === 'payin').length,
    completions: completions.filter(({ outcome }) => outcome === 'accepted').length,
    webhooks: webhooks.map(webhookText),
    breaks: breaks.map(({ kind }) => kind),
  };
}

/** What {@link lookAtCollection} is to show of a scenario in the end, with callbacks or without. */
export function expectedOfCollection(collectionScenario: CollectionScenario, callbacks: 'on' | 'off' = 'on') {
  const {
    withoutCallbacks,
    what: _what,
    digits: _digits,
    flows: _flows,
    flow,
    ...changes
  } = collectionScenario;
  const { what: _other, ...otherwise } = withoutCallbacks ?? { what: '' };
  const { unclear: _unclear, ...seen } = { ...completed, ...changes, ...(callbacks === 'off' && otherwise) };
  return { ...seen, completions: flows[flow].completes ? 1 : 0 };
}
