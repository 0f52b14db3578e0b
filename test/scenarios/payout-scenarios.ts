import type { Scenario } from './scenario.ts';

// In NGN the merchant's fee is 1, and the rail's fee is 0.50.
const held = ['hold 101'];
const paid = [...held, 'capture 100', 'fee 1', 'railCost 0.5'];
const released = [...held, 'release 101'];

/** The expected final state of a payout of 100; absent fields are as for one that completes. */
export interface PayoutScenario {
  readonly what: string;
  readonly digits: string;
  readonly status?: 'COMPLETED' | 'FAILED' | 'REVERSED' | 'INITIALIZED';
  readonly reason?: string;
  readonly entries?: readonly string[];
  /** How often the rail executed the payout; below, how often it was asked to. */
  readonly executions?: number;
  readonly submissions?: number;
  /** The statuses of the webhooks that the merchant received, in order. */
  readonly webhooks?: readonly string[];
  readonly breaks?: readonly string[];
  /** What differs if no callback ever arrives. */
  readonly withoutCallbacks?: Omit<PayoutScenario, 'digits' | 'withoutCallbacks'>;
}

/** Every magic number of the simulator (contract 10.18). */
export const payoutScenarios: readonly PayoutScenario[] = [
  { digits: '9999', what: 'succeeds' },
  {
    digits: '0001',
    what: 'fails',
    status: 'FAILED',
    reason: 'Beneficiary institution declined',
    entries: released,
    executions: 0,
    webhooks: ['FAILED'],
  },
  { digits: '0002', what: 'succeeds without a callback' },
  {
    digits: '0003',
    what: 'fails without a callback',
    status: 'FAILED',
    reason: 'Beneficiary institution declined',
    entries: released,
    executions: 0,
    webhooks: ['FAILED'],
  },
  { digits: '0004', what: 'executed, yet answers HTTP 500' },
  { digits: '0005', what: 'executed, yet the connection resets' },
  { digits: '0006', what: 'not executed and reset: sent again after the grace time', submissions: 2 },
  { digits: '0007', what: 'executed, the answer never comes' },
  { digits: '0008', what: 'pending for 10 s, no callback' },
  { digits: '0009', what: 'succeeds, callback three times' },
  { digits: '0010', what: 'the callback arrives before the answer' },
  {
    digits: '0011',
    what: 'callbacks contradict',
    breaks: ['callback.denied'],
    withoutCallbacks: { what: 'callbacks that contradict each other, and do not arrive', breaks: [] },
  },
  {
    digits: '0012',
    what: 'a callback with another amount',
    breaks: ['callback.amount_differs'],
    withoutCallbacks: { what: 'a callback with another amount, which does not arrive', breaks: [] },
  },
  { digits: '0013', what: 'the lookup says unknown for 5 s' },
  {
    digits: '0014',
    what: 'succeeds, is reversed 2 s later',
    status: 'REVERSED',
    reason: 'Reversed by the beneficiary institution',
    entries: [...paid, 'refund 100'],
    webhooks: ['COMPLETED', 'REVERSED'],
  },
  { digits: '0015', what: 'answers 429 twice', submissions: 3 },
  { digits: '0016', what: 'executed, answers malformed JSON' },
  {
    digits: '0017',
    what: 'pending for ever',
    status: 'INITIALIZED',
    reason: '',
    entries: held,
    executions: 0,
    webhooks: [],
    breaks: ['payment.stuck'],
  },
];

const completes = {
  status: 'COMPLETED',
  reason: 'Successful',
  entries: paid,
  executions: 1,
  submissions: 1,
  webhooks: ['COMPLETED'],
  breaks: [] as readonly string[],
} as const;

/** The payout as the merchant, the ledger, the rail and the operators see it. */
export async function lookAtPayout(scenario: Scenario, reference: string) {
  const { responseData } = await scenario.demo.lookUpPayout(reference);
  const ours = responseData?.transactionReference ?? '';
  const journal = await scenario.stack.simulator.journal(ours);
  const breaks = await scenario.stack.operator.breaks(ours);
  const entries = await scenario.stack.operator.entries(ours);
  return {
    status: responseData?.transactionStatus,
    reason: responseData?.statusReason ?? '',
    entries: entries.map(({ kind, amount }) => `${String(kind)} ${String(amount)}`).toSorted(),
    executions: await scenario.executions(ours),
    submissions: journal.filter(({ kind, operation }) => kind === 'request' && operation === 'payout').length,
    webhooks: await scenario.webhookStatuses(reference),
    breaks: breaks.map(({ kind }) => kind),
  };
}

/** The result that {@link lookAtPayout} must have in the end, with callbacks or without. */
export function expectedOfPayout(payoutScenario: PayoutScenario, callbacks: 'on' | 'off' = 'on') {
  const { withoutCallbacks, what: _what, digits: _digits, ...changes } = payoutScenario;
  const { what: _other, ...otherwise } = withoutCallbacks ?? { what: '' };
  const { entries, ...rest } = { ...completes, ...changes, ...(callbacks === 'off' && otherwise) };
  return { ...rest, entries: entries.toSorted() };
}
