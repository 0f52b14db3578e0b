import { collectionWebhook, parseJson, type payinResponse } from '@pesewa/contracts';
import type { CollectionWish } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { openScenario, type Scenario } from './scenario.ts';

/** One way in which a customer takes part (contract 2.8), with an operator of it. */
interface Flow {
  readonly operatorCode: string;
  readonly country: CollectionWish['country'];
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

const flows = {
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
const flowNames = Object.keys(flows) as readonly FlowName[];
const completing = ['stkThenComplete', 'otp6'] as const;

/** What must be true of a collection of 200 once all is quiet. */
interface Story {
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
  readonly told?: readonly string[];
  readonly breaks?: readonly string[];
}

const completed = {
  unclear: false,
  status: 'COMPLETED',
  // Our fee is 1.5 %, the rail's 1 %.
  entries: ['collect 197', 'fee 3', 'railCost 2'],
  executions: 1,
  submissions: 1,
  told: ['COMPLETED 200 3'],
  breaks: [] as readonly string[],
} as const;
const failed = { status: 'FAILED', entries: [], executions: 0, told: ['FAILED 0 0 FAILED'] } as const;
const pending = { status: 'PENDING', entries: [], told: [] } as const;

/** Every magic number of the simulator (design 6), those that take longest first. */
const stories: readonly Story[] = [
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
    told: ['FAILED 0 0 CUSTOMER DECLINED'],
  },
  { digits: '0002', what: 'succeeds without a callback', flows: ['otp6'] },
  { digits: '0003', what: 'fails without a callback', flows: ['otp6'], ...failed },
  { digits: '0004', what: 'executed, yet answers HTTP 500', flows: ['link', ...completing], unclear: true },
  { digits: '0005', what: 'executed, yet the connection resets', flows: completing, unclear: true },
  { digits: '0009', what: 'succeeds, callback three times' },
  { digits: '0010', what: 'the callback arrives before the answer', flows: flowNames },
  { digits: '0011', what: 'callbacks contradict', flows: ['otp6'], breaks: ['callback.denied'] },
  {
    digits: '0012',
    what: 'a callback with another amount: people decide',
    flows: ['link', 'otp6'],
    ...pending,
    breaks: ['collection.amount_differs'],
  },
  { digits: '0014', what: 'just succeeds: collections are not reversed' },
  { digits: '0016', what: 'executed, answers malformed JSON', flows: completing, unclear: true },
];

interface Told extends Story {
  readonly flow: FlowName;
}

const told: readonly Told[] = stories.flatMap((story) =>
  [...new Set<FlowName>(['stk', ...(story.flows ?? [])])].map((flow) => ({ ...story, flow })),
);

type Payin = z.output<typeof payinResponse>;

let scenario: Scenario;
const answers = new Map<string, Payin>();
const before = new Map<string, number>();
const currencies = [...new Set(flowNames.map((name) => flows[name].currency))];
const label = ({ digits, flow }: Pick<Told, 'digits' | 'flow'>) => `${flow}-${digits}`;

function wishOf(story: Pick<Told, 'digits' | 'flow'>): CollectionWish {
  const { operatorCode, country, currency, number } = flows[story.flow];
  const customerNumber = `${number}${story.digits}`;
  const reference = scenario.reference(label(story));
  return { reference, amount: '200', operatorCode, country, currency, customerNumber };
}

/** The merchant's part: payin, and the completion once the rail has the collection. */
async function play(story: Told): Promise<void> {
  const wish = wishOf(story);
  const flow: Flow = flows[story.flow];
  answers.set(label(story), await scenario.demo.initiateCollection(wish));
  if (!flow.completes) return;
  await eventually(async () => {
    const { responseDetails } = await scenario.demo.completeCollection(wish, flow.otp);
    expect(responseDetails, label(story)).toEqual({ responseCode: '09', responseMessage: 'PENDING' });
  }, 60_000);
}

async function availableIn(currency: string): Promise<number> {
  return Number((await scenario.stack.operator.wallet(scenario.merchantId, currency)).available);
}

beforeAll(async () => {
  // A few quick polls, so that the tests need not wait long for what only polls can find. The first one leaves callbacks
  // the time to come on a busy machine: where a poll is first, the amount asked counts (0012).
  scenario = await openScenario('collect-digits', {
    reconciler: { FIRST_POLL_AFTER_MS: '6000', POLL_CAP_MS: '2000', POLLS_BEFORE_BREAK: '12' },
  });
  for (const currency of currencies) before.set(currency, await availableIn(currency));
  await Promise.all(told.map(play));
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

function toldBy(said: z.output<typeof collectionWebhook>): string {
  const why = said.failure_reason === undefined ? '' : ` ${said.failure_reason}`;
  return `${said.status} ${said.amount_received} ${said.transaction_fee}${why}`;
}

/** Everything that is to be seen of a collection, from every side. */
async function lookAt(story: Told) {
  const wish = wishOf(story);
  const ours = answers.get(label(story))?.transactionReference ?? '';
  const { simulator, operator } = scenario.stack;
  const [status, journal, entries, received, breaks] = await Promise.all([
    scenario.demo.checkCollection(wish),
    simulator.journal(ours),
    operator.entries(ours),
    simulator.received(scenario.merchantId, wish.reference),
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
    told: webhooks.map(toldBy),
    breaks: breaks.map(({ kind }) => kind),
  };
}

function expected({ what: _what, digits: _digits, flows: _flows, flow, ...story }: Told) {
  const { unclear: _unclear, ...seen } = { ...completed, ...story };
  return { ...seen, completions: flows[flow].completes ? 1 : 0 };
}

describe('every magic number of the simulator (X1, P10, P12, P13, W1, R1, R3)', () => {
  it.each(told)('$digits by $flow: $what', async (story) => {
    const asTold = async () => expect(await lookAt(story)).toEqual(expected(story));
    // Patience first, then the look that shows what differs.
    await eventually(asTold, 60_000).catch(() => undefined);
    await asTold();
  });

  it.each(told)('$digits by $flow: payin says how it goes on (contract 2.9)', ({ flow, digits, unclear }) => {
    const link = expect.stringContaining('/pay/') as unknown;
    const address = flow !== 'link' ? {} : { paymentCompletionUrl: link, redirectionUrl: link };
    expect(answers.get(label({ flow, digits }))).toEqual({
      responseDetails: { responseCode: '09', responseMessage: 'PENDING' },
      transactionReference: expect.stringMatching(/^co-/) as unknown,
      otpIsRequired: false,
      lengthOfOtp: '0',
      paymentCompletionRequired: false,
      paymentCompletionUrl: '',
      redirectionRequired: false,
      redirectionUrl: '',
      ...flows[flow].answer,
      ...(unclear !== true && address),
    });
  });

  it('stays so once every poll has been made', async () => {
    const ours = answers.get('stk-0017')?.transactionReference ?? '';
    const checks = async () =>
      (await scenario.stack.simulator.journal(ours)).filter(({ operation }) => operation === 'check').length;
    const checksBefore = await checks();
    // The one that never ends goes on being asked for; everything else is at rest meanwhile.
    await eventually(async () => expect(await checks()).toBeGreaterThan(checksBefore + 1));
    const looks = await Promise.all(told.map(async (story) => [label(story), await lookAt(story)] as const));
    expect(looks).toEqual(told.map((story) => [label(story), expected(story)]));
  });

  it.each(currencies)('credits received less fee, and nothing else, in %s (L11)', async (currency) => {
    const ended = told.filter(({ flow }) => flows[flow].currency === currency);
    const credited = ended.filter(({ status }) => (status ?? 'COMPLETED') === 'COMPLETED').length * 197;
    expect((await availableIn(currency)) - (before.get(currency) ?? 0)).toBe(credited);
  });

  it('leaves no drift between the rail’s wallets and our floats (L12)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drifts = (await scenario.stack.operator.drift()).filter(({ currency }) =>
        currencies.some((one) => one === currency),
      );
      expect(drifts.map(({ withinRange }) => withinRange)).toEqual(currencies.map(() => true));
    });
  });
});

it('the books hold from the first entry on (L1 to L12)', async () => {
  expect(await scenario.violations()).toEqual([]);
});
