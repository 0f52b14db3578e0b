import { proposalOperations } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectPicture, pictures } from './console-pictures.ts';
import {
  type ConsoleScenario,
  chooseStatement,
  openConsoleScenario,
  type Person,
  reloadUntil,
  soonStuck,
} from './console-scenario.ts';

let scenario: ConsoleScenario;
/** Two people, each in a browser of their own. */
let ama: Person;
let kofi: Person;
/** Where each of the pictures is taken, as the tests come by. */
const places = new Map<string, string>();

beforeAll(async () => {
  scenario = await openConsoleScenario('console', {
    reconciler: { ...soonStuck, COMPARISON_PAUSE_MS: '500' },
    'webhook-dispatcher': { RETRY_DELAYS_MS: '200' },
  });
  ama = await scenario.signIn('operator');
  kofi = await scenario.signIn('approver');
});

afterEach(() => {
  scenario.expectNoComplaints();
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const here = ({ page }: Person) => {
  const { pathname, search } = new URL(page.url());
  return `${pathname}${search}`;
};

describe('a payout that its rail never ends', () => {
  let ours: string;
  let detail: string;

  beforeAll(async () => {
    ({ ours, detail } = await scenario.payForEver('stuck'));
  });

  it('is found from Today, and its page says why it is open', async () => {
    const { page, main, follow, arrivesAt, sees } = ama;
    await page.goto('/');
    // It may show what was read for somebody else, up to five seconds before.
    await reloadUntil(page, main.getByRole('link', { name: ours }));
    places.set('today', '/');
    await sees('Wallets at the rails against our floats');
    await follow(ours);
    await arrivesAt(`Payout ${ours}`);
    places.set('payment', here(ama));
    await sees(detail);
    const wrong = main.getByRole('listitem').filter({ hasText: detail });
    await wrong.getByRole('link', { name: 'payment: stuck' }).click();
    await arrivesAt(/payment: stuck/);
    await sees(detail);
    places.set('break', here(ama));
    expect(await main.innerText()).toContain(ours);
  });

  it('is found by the search on every page, by our reference', async () => {
    const { page, arrivesAt } = ama;
    await page.goto('/ledger');
    await page.keyboard.press('/');
    await page.keyboard.type(ours);
    await page.keyboard.press('Enter');
    await arrivesAt(`Payout ${ours}`);
    expect(here(ama)).toBe(`/payments/${ours}`);
  });
});

describe('a drift', () => {
  const wallet = '/reconciliation/wallets/upstream/KES';

  it('has a break, which one person adjusts and another approves; then it is gone', async () => {
    const { page, main, follow, submit, fill, arrivesAt, sees } = ama;
    const { simulator } = scenario.stack;
    const before = (await simulator.wallets()).find(({ currency }) => currency === 'KES');
    await simulator.setWallet('KES', (Number(before?.balance) + 12.5).toFixed(2));
    await page.goto('/reconciliation');
    await submit('Compare every wallet now');
    await follow('upstream KES');
    await arrivesAt(/out of range/);
    expect(here(ama)).toBe(wallet);
    places.set('wallet', wallet);
    await reloadUntil(page, main.getByRole('link', { name: 'wallet: drift' }));
    await follow('wallet: drift');
    await arrivesAt(/\+12\.50 KES/);
    const drift = here(ama);

    await follow('Correct our books …');
    expect(await main.getByLabel('Amount', { exact: true }).inputValue()).toBe('+12.5');
    await fill('Why', 'The rail paid interest');
    await submit('Show what would happen');
    await submit(/^Propose 12\.50 KES/);
    await sees('waits for another operator');

    await kofi.page.goto('/approvals');
    await kofi.follow(/12\.50 KES/);
    await kofi.sees(/The rail paid interest/);
    await kofi.press(/^Approve: 12\.50 KES/);
    await kofi.arrivesAt('Order: applied');

    await page.goto(drift);
    await reloadUntil(page, page.getByRole('heading', { level: 1, name: /: resolved$/ }));
    await page.goto('/reconciliation');
    await submit('Compare every wallet now');
    await page.goto(wallet);
    await reloadUntil(page, main.getByText('The rail has exactly what our float says.'));
    expect(await main.getByRole('link', { name: 'wallet: drift' }).count()).toBe(0);
  });
});

describe('a statement of a rail with planted faults', () => {
  const ghana = { currency: 'GHS', country: 'Ghana' } as const;

  async function paidOut(label: string) {
    const { reference, ours } = await scenario.pay(label, '9999', ghana);
    await scenario.payoutBecomes(reference, 'COMPLETED');
    await eventually(async () => expect(await scenario.webhookStatuses(reference)).toHaveLength(1));
    return ours;
  }

  it('is tried out, then sent; its results are read, and what it finds is resolved', async () => {
    const { page, follow, press, submit, fill, arrivesAt, sees } = ama;
    const from = new Date();
    const [right, otherAmount] = await Promise.all(['right', 'dearer', 'missing'].map(paidOut));
    const to = new Date(Date.now() + 1_000);
    await chooseStatement(ama, 'GHS', [
      [right ?? '', 'R-1', '100', from.toISOString()],
      [otherAmount ?? '', 'R-2', '90.5', to.toISOString()],
      ['never-asked-for', 'R-3', '70', to.toISOString()],
    ]);
    await press('Read and match its first lines, and keep nothing');
    await sees('Nothing was kept, and no break was opened.');
    await press('Send the file and match it');
    await arrivesAt(/^Statement of upstream: done/);
    const statement = here(ama);
    places.set('statement', statement);
    await sees('4 in all');

    for (const [result, cause] of [
      ['1 differs', 'The rail corrects its line tomorrow'],
      ['1 not in our books', 'Paid by hand at the rail, for rent'],
      ["1 not on the rail's statement", 'The rail lists it tomorrow'],
    ] as const) {
      await page.goto(statement);
      await follow(result);
      await follow(/^break: /);
      await follow('Resolve …');
      await fill('What became of it', cause);
      await submit(/^Resolve: /);
      await arrivesAt(/: resolved$/);
      await sees(cause);
    }
    await page.goto('/breaks?currency=GHS');
    await sees('Nothing matches.');
    expect(await scenario.stack.operator.breaks(right ?? '')).toEqual([]);
  });
});

describe('a webhook that was given up', () => {
  it('is found from Today, is sent again, and arrives', async () => {
    const { page, main, follow, submit, arrivesAt } = ama;
    await scenario.stack.simulator.setFaults({ merchantEndpoint: { status: 500, times: 2 } });
    const { reference, ours } = await scenario.pay('unheard', '9999');
    await eventually(async () =>
      expect(await scenario.stack.operator.deliveries(ours)).toMatchObject([{ state: 'exhausted' }]),
    );
    await page.goto('/');
    const task = main.getByRole('listitem').filter({ hasText: /webhooks? (?:was|were) given up/ });
    await task.getByRole('link').first().click();
    const row = main.getByRole('row').filter({ has: page.getByRole('link', { name: ours }) });
    await row.getByRole('link').first().click();
    await arrivesAt(/: exhausted$/);
    places.set('webhook', here(ama));
    await follow('Send it again…');
    await submit('Send this webhook again');
    await reloadUntil(page, page.getByRole('heading', { level: 1, name: /: delivered$/ }));
    expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  });
});

describe('the sandbox', () => {
  it('pays out, and shows the webhook as it comes, without being loaded again', async () => {
    const { page, main, fill, press, arrivesAt, sees } = ama;
    await page.goto('/sandbox');
    await fill('Amount', '123.45');
    await press(/^9999/);
    await arrivesAt(/^Sandbox payment sandbox/);
    places.set('sandbox', here(ama));
    await sees('HTTP 200');
    await sees(/verified/);
    const body = main.getByText('"transactionStatus":"COMPLETED"');
    await body.first().waitFor();
    expect(await body.first().innerText()).toContain('123.45');
  });
});

describe('docs/console.md', () => {
  beforeAll(async () => {
    const order = { merchantId: 'demo', currency: 'GHS', amount: '2500', reason: 'Top-up of November' };
    const { commandId } = await scenario.call('ledger', proposalOperations.fund, { body: order });
    for (const [name, path] of Object.entries({
      approval: `/approvals/orders/${commandId}`,
      account: '/ledger/accounts/float:upstream:NGN',
      merchant: '/merchants/demo',
      rail: '/rails/upstream',
    }))
      places.set(name, path);
  });

  it.each(pictures)('has a picture of %s in both themes', async (name) => {
    const path = places.get(name);
    expect(path).toBeDefined();
    await expectPicture(kofi.page, name, path ?? '/');
  });
});
