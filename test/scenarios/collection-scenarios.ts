import { collectionWebhook, parseJson, type payinResponse } from '@pesewa/contracts';
import type { CollectionRequest } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Scenario } from './scenario.ts';

/** One way in which a customer takes part (contract 2.8), with a mobile operator that uses it. */
export interface Flow {
  readonly operatorCode: string;
  readonly country: CollectionRequest['country'];
  readonly currency: string;
  /** The customer's number without its last four digits. */
  readonly number: string;
  readonly completes: boolean;
  readonly otp?: string;
  /** The fields of the answer to payin that differ from those of a single STK push. */
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

/** The names of the flows. */
export const flowNames = Object.keys(flows) as readonly FlowName[];

const completing = ['stkThenComplete', 'otp6'] as const;

/** The expected final state of a collection of 200. */
interface BaseScenario {
  readonly digits: string;
  readonly what: string;
  /** The flows in which the scenario is played, in addition to STK. */
  readonly flows?: readonly FlowName[];
  /** Whether the rail's first answer to the initiation was unusable. */
  readonly unclear?: boolean;
  readonly status?: 'COMPLETED' | 'FAILED' | 'PENDING';
  /** Kind and amount of each ledger entry. */
  readonly entries?: readonly string[];
  /** How often the rail executed the collection; below, how often it was asked to initiate it. */
  readonly executions?: number;
  readonly submissions?: number;
  /** The content of each webhook that the merchant receives. */
  readonly webhooks?: readonly string[];
  readonly breaks?: readonly string[];
  /** What differs if no callback ever arrives. */
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
    // Without the link flow: if the rail certainly made no link, payin is refused at once.
    what: 'answers 429 twice',
    flows: completing,
    unclear: true,
    submissions: 3,
  },
  { digits: '9999', what: 'succeeds', flows: flowNames },
  {
    digits: '0001',
    what: 'fails, and the callback gives the reason',
    flows: flowNames,
    ...failed,
    webhooks: ['FAILED 0 0 CUSTOMER DECLINED'],
    // Only a callback gives the reason (contract 2.10).
    withoutCallbacks: { what: 'fails without a reason', ...failed },
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
    withoutCallbacks: { what: 'callbacks that contradict each other, and do not arrive', breaks: [] },
  },
  {
    digits: '0012',
    what: 'a callback with another amount: people decide',
    flows: ['link', 'otp6'],
    ...pending,
    breaks: ['collection.amount_differs'],
    // Without a callback the requested amount counts (ADR 23).
    withoutCallbacks: { what: 'a callback with another amount, which does not arrive', ...completed },
  },
  { digits: '0014', what: 'just succeeds: collections are not reversed' },
  { digits: '0016', what: 'executed, answers malformed JSON', flows: completing, unclear: true },
];

/** A scenario in one of its flows. */
export interface CollectionScenario extends BaseScenario {
  readonly flow: FlowName;
}

/** Every magic number of the simulator (contract 10.18) in each of its flows, the slowest first. */
export const collectionScenarios: readonly CollectionScenario[] = baseScenarios.flatMap(
  (collectionScenario) =>
    [...new Set<FlowName>(['stk', ...(collectionScenario.flows ?? [])])].map((flow) => ({
      ...collectionScenario,
      flow,
    })),
);

/** The answer of payin. */
export type Payin = z.output<typeof payinResponse>;

/** The label of a scenario, unique within the test. */
export const labelOf = ({ digits, flow }: Pick<CollectionScenario, 'digits' | 'flow'>) => `${flow}-${digits}`;

/** The merchant's request in a scenario. */
function requestOf(
  scenario: Scenario,
  collectionScenario: Pick<CollectionScenario, 'digits' | 'flow'>,
): CollectionRequest {
  const { operatorCode, country, currency, number } = flows[collectionScenario.flow];
  const customerNumber = `${number}${collectionScenario.digits}`;
  const reference = scenario.reference(labelOf(collectionScenario));
  return { reference, amount: '200', operatorCode, country, currency, customerNumber };
}

/** Plays the merchant's part: payin, then the completion once the rail has the collection; returns payin's answer. */
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

/** The collection as the merchant, the ledger, the rail and the operators see it. */
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
    // On a slow machine the grace times may pass before its owner initiates it again: the break is resolved by its end.
    breaks: breaks.flatMap(({ kind, status: at }) =>
      kind === 'collection.not_found' && at === 'resolved' ? [] : [kind],
    ),
  };
}

/** The result that {@link lookAtCollection} must have in the end, with callbacks or without. */
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
