import type { OperationsAnswer } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const decision = {
  id: 'dc-1',
  breakId: 'co-1/amount',
  reference: 'co-1',
  currency: 'KES',
  amount: '100.5',
  status: 'proposed',
  requestedBy: 'ama',
  requestedAt: '2026-11-01T08:00:00.000Z',
  expiresAt: '2026-11-08T08:00:00.000Z',
};
const answer = (status: number, body: unknown): OperationsAnswer => ({ status, body });
const proposed = answer(202, decision);
const token = 'operator-token-of-tests';

describe('a decision over an amount', () => {
  it('is proposed, and says who must act next', async () => {
    const line = commandLine([proposed]);
    expect(await line.run('decisions', 'propose', 'co-1', '100.50', '--note', 'so says the rail')).toBe(0);
    const body = { reference: 'co-1', amount: '100.50', commandId: 'dc-1', note: 'so says the rail' };
    expect(line.requests).toEqual([{ url: 'http://reconciler/decisions', token, body }]);
    expect(line.printed()).toBe(
      'proposing dc-1\nproposed dc-1: co-1 received 100.50 KES, proposed by ama\nwaiting for another approver until 2026-11-08T08:00:00.000Z: pesewa decisions approve dc-1\n',
    );
  });

  it('is only shown with --dry-run', async () => {
    const line = commandLine([answer(200, decision)]);
    expect(await line.run('decisions', 'propose', 'co-1', '100.50', '--dry-run')).toBe(0);
    const body = { reference: 'co-1', amount: '100.50', dryRun: true };
    expect(line.requests).toEqual([{ url: 'http://reconciler/decisions', token, body }]);
    expect(line.printed()).toBe(
      'would propose: co-1 received 100.50 KES\nopen break: co-1/amount\nnothing was proposed\n',
    );
  });

  it('is shown beside what was asked and claimed, how many times it is that, and what it moves: before and after', async () => {
    const judged = {
      ...decision,
      currency: 'XOF',
      amount: '5000000',
      asked: '500',
      claimed: '510',
      merchantId: 'demo',
      rail: 'upstream',
      note: 'by phone',
      despite: 'the rail wrote it',
    };
    const grounds = [
      'asked: 500 XOF',
      'claimed: 510 XOF',
      'proposed: 5,000,000 XOF, 10,000 times what was asked',
      'note: by phone',
      'despite: the rail wrote it',
      "effect: the wallet of demo gets 5,000,000 XOF less our fee; our float at upstream grows by 5,000,000 XOF less the rail's fee",
      '',
    ].join('\n');
    const propose = ['decisions', 'propose', 'co-1', '5000000', '--despite', 'the rail wrote it'];
    for (const [call, answers] of [
      [propose, [answer(202, judged)]],
      [[...propose, '--dry-run'], [answer(200, judged)]],
      [['decisions', 'approve', 'dc-1', '--dry-run'], [answer(200, judged)]],
      [['decisions', 'approve', 'dc-1'], [answer(200, judged)]],
    ] as const) {
      const line = commandLine(answers);
      expect(await line.run(...call)).toBe(0);
      expect(line.printed()).toContain(grounds);
    }
  });

  it.each([
    ['100.5', '100.50 KES, 1.005 times what was asked'],
    ['50', '50.00 KES, 0.5 times what was asked'],
    ['100', '100.00 KES, as asked'],
  ])('of %s names its share of what was asked', async (amount, said) => {
    const line = commandLine([answer(200, { ...decision, amount, asked: '100' })]);
    await line.run('decisions', 'approve', 'dc-1', '--dry-run');
    expect(line.printed()).toContain(`proposed: ${said}\n`);
  });

  it.each<[string, readonly string[], readonly OperationsAnswer[], string]>([
    [
      'a refusal',
      ['co-1', '1'],
      [answer(409, { message: 'dc-7 waits for another operator' })],
      'reconciler: dc-7 waits for another operator',
    ],
    [
      'a lost answer',
      ['co-1', '1'],
      [answer(503, undefined)],
      'reconciler: answered 503, no reason given; it may have been taken: repeat with --command-id dc-1',
    ],
    [
      'an id like a payment',
      ['co-1', '1', '--command-id', 'co-1'],
      [],
      '--command-id: write 1 to 64 letters, digits, dots, underscores, colons or hyphens, not beginning with po- or co-',
    ],
  ])('names the field for %s', async (_name, call, answers, message) => {
    const line = commandLine(answers);
    expect(await line.run('decisions', 'propose', ...call)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
  });

  it("is approved with the other operator's token, and rejected with one's own", async () => {
    const approved = commandLine([answer(200, { ...decision, status: 'approved', approvedBy: 'kofi' })]);
    expect(await approved.run('decisions', 'approve', 'dc-1')).toBe(0);
    expect(approved.requests).toEqual([
      { url: 'http://reconciler/decisions/dc-1/approve', token: 'approver-token-of-tests', body: {} },
    ]);
    expect(approved.printed()).toBe(
      'approved dc-1: co-1 received 100.50 KES, proposed by ama, approved by kofi\n',
    );
    const rejected = commandLine([answer(200, { ...decision, status: 'rejected', rejectedBy: 'ama' })]);
    expect(await rejected.run('decisions', 'reject', 'dc-1', '--reason', 'a slip')).toBe(0);
    expect(rejected.requests).toEqual([
      { url: 'http://reconciler/decisions/dc-1/reject', token, body: { reason: 'a slip' } },
    ]);
    expect(rejected.printed()).toContain('rejected by ama');
  });

  it.each([
    ['approve', [], 'approved'],
    ['reject', ['--reason', 'a slip'], 'rejected'],
  ])('is only shown by %s with --dry-run', async (verb, options, done) => {
    const line = commandLine([answer(200, decision)]);
    expect(await line.run('decisions', verb, 'dc-1', ...options, '--dry-run')).toBe(0);
    expect(line.requests).toEqual(['http://reconciler/decisions/dc-1']);
    expect(line.printed()).toBe(
      `proposed dc-1: co-1 received 100.50 KES, proposed by ama\nnothing was ${done}\n`,
    );
  });

  it.each([['decisions'], ['decisions', 'list']])('is listed by %s %s', async (...call) => {
    const line = commandLine([answer(200, { items: [decision], next: null })]);
    expect(await line.run(...call)).toBe(0);
    expect(line.requests).toEqual(['http://reconciler/decisions']);
    expect(line.printed()).toMatch(/dc-1 +proposed +co-1 +- +100.50 KES +- +ama/);
  });

  it.each([
    [[], 'no decisions yet\n'],
    [['--status', 'proposed'], 'no such decisions\n'],
  ])('says that there are none: %j', async (filters, said) => {
    const line = commandLine([answer(200, { items: [], next: null })]);
    expect(await line.run('decisions', ...filters)).toBe(0);
    expect(line.printed()).toBe(said);
  });

  it('is listed by status and collection, page by page', async () => {
    const line = commandLine([
      answer(200, { items: [decision], next: '5.dc-1' }),
      answer(200, { items: [decision], next: null }),
    ]);
    const filters = ['--status', 'proposed', '--reference', 'co-1', '--json'];
    expect(await line.run('decisions', 'list', ...filters)).toBe(0);
    expect(line.requests).toEqual([
      'http://reconciler/decisions?status=proposed&reference=co-1',
      'http://reconciler/decisions?status=proposed&reference=co-1&cursor=5.dc-1',
    ]);
    expect(JSON.parse(line.printed())).toHaveLength(2);
  });
});

const outcome = { ...decision, reference: 'po-1', outcome: 'failed', note: 'so says the rail' };
const proposing = ['decisions', 'outcome', 'po-1', 'failed', '--reason', 'so says the rail'];

describe('a decision over how a payout ended', () => {
  it('is proposed with how that is known, and says who must act next', async () => {
    const line = commandLine([answer(202, outcome)]);
    expect(await line.run(...proposing)).toBe(0);
    const body = { reference: 'po-1', outcome: 'failed', note: 'so says the rail', commandId: 'dc-1' };
    expect(line.requests.at(0)).toEqual({ url: 'http://reconciler/decisions', token, body });
    expect(line.printed()).toBe(
      'proposing dc-1\nproposed dc-1: po-1 of 100.50 KES failed, proposed by ama\nreason: so says the rail\nonce approved: its hold is released, the merchant hears FAILED, the rail is not asked again; if the rail pays all the same, that is our loss; an attempt that is newer than the proposal, and may still pay, keeps it open: look again, and propose again\nwaiting for another approver until 2026-11-08T08:00:00.000Z: pesewa decisions approve dc-1\n',
    );
  });

  it('is only shown with --dry-run, with what it would bring about', async () => {
    const moved = { asked: '100.5', merchantId: 'demo', rail: 'upstream' };
    const line = commandLine([answer(200, { ...outcome, ...moved })]);
    expect(await line.run(...proposing, '--dry-run')).toBe(0);
    expect(line.requests.at(0)).toMatchObject({ body: { outcome: 'failed', dryRun: true } });
    expect(line.printed()).toMatch(
      /^would propose: po-1 failed\nopen break: co-1\/amount\nasked: 100.50 KES\nreason: so says the rail\neffect: the wallet of demo gets back 100.50 KES and our fee from held; our float at upstream stays\nonce approved: its hold is released/,
    );
  });

  it.each(['failed', 'completed'])('of %s is previewed before it is approved', async (end) => {
    const line = commandLine([answer(200, { ...outcome, outcome: end })]);
    expect(await line.run('decisions', 'approve', 'dc-1', '--dry-run')).toBe(0);
    expect(line.printed()).toMatch(
      new RegExp(
        `po-1 of 100.50 KES ${end}.*\nreason: so says the rail\nonce approved: .*\nnothing was approved\n`,
      ),
    );
  });

  it.each<[string, readonly string[], string]>([
    ['another outcome', ['po-1', 'reversed', '--reason', 'x'], 'reversed'],
    ['no reason', ['po-1', 'failed'], '--reason'],
  ])('is refused with %s', async (_name, call, complaint) => {
    const line = commandLine([]);
    expect(await line.run('decisions', 'outcome', ...call)).not.toBe(0);
    expect(line.complained()).toContain(complaint);
    expect(line.requests).toEqual([]);
  });
});
