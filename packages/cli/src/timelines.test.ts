import { describe, expect, it } from 'vitest';
import { breakRow, unknownSides } from './breaks.fixture.ts';
import { CliError } from './errors.ts';
import { commandLine } from './program.fixture.ts';
import { at, callback, delivery, entries, payout, seen, webhookAttempts } from './timeline.fixture.ts';

const ok = (body: unknown) => ({ status: 200, body });
const page = (items: readonly unknown[], next: string | null = null) => ok({ items, next });
const unknown = { status: 404, body: { code: 'not_found', message: 'nothing here' } };

/** A break on which a person has acted; the text they wrote is not shown. */
const row = breakRow({ id: 'po-1/status', kind: 'payment.stuck', status: 'assigned' });
const stuck = {
  ...row,
  observations: [],
  ...unknownSides,
  corrections: [],
  history: [
    { at: at(92), by: null, what: 'opened', text: null, amount: null },
    { at: at(93), by: 'ama', what: 'noted', text: 'called Kofi about it', amount: null },
  ],
};

/** The answers of an installation in which every service knows the payout; tests replace some of them. */
const answers = {
  'http://payouts/payments?reference=po-1': () => ok(payout),
  'http://payouts/payments?reference=order-1&merchant=demo': () => ok(payout),
  'http://ingress/callbacks?reference=po-1': () => page([callback]),
  'http://reconciler/timeline?reference=po-1': () => ok(seen),
  'http://reconciler/breaks?reference=po-1': () => page([row]),
  'http://reconciler/breaks/po-1%2Fstatus': () => ok(stuck),
  'http://ledger/entries?reference=po-1': () => page(entries),
  'http://webhooks/deliveries?reference=po-1': () =>
    page([
      { ...delivery, attempts: 2 },
      { ...delivery, attempts: 2, id: 'wh-2', reference: 'po-of-another-merchant' },
    ]),
  'http://webhooks/deliveries/wh-1/attempts': () => page(webhookAttempts),
};

function installation(changes: Readonly<Record<string, () => ReturnType<typeof ok>>> = {}) {
  const all: Readonly<Record<string, () => ReturnType<typeof ok>>> = { ...answers, ...changes };
  return commandLine((url) => all[url]?.() ?? unknown);
}

const silent = () => {
  throw new CliError('http://webhooks does not answer: start the service, or set its address');
};

describe.each([['timeline'], ['reconcile timeline']])('pesewa %s', (name) => {
  const command = name.split(' ');

  it('prints where the payment stands, and a line for each thing known', async () => {
    const line = installation();
    expect(await line.run(...command, 'po-1')).toBe(0);
    const [head, broken, , titles, ...lines] = line.printed().trimEnd().split('\n');
    expect(head).toBe('po-1: COMPLETED, step ended, version 7, 100.00 GHS at upstream, order-1 of demo');
    expect(broken).toBe('open break po-1/status');
    expect(titles).toMatch(/^AT +SERVICE +WHAT +DETAIL$/);
    expect(lines).toHaveLength(18);
    expect(lines[0]).toContain('100.00 GHS, fee 1.00 GHS, of demo, its reference order-1');
    expect(line.printed()).toMatch(/ledger +entry hold +100\.00 GHS from GHS wallet of demo, available to/);
    expect(line.printed()).toMatch(/webhook-dispatcher +webhook payout completed +wh-1/);
    expect(line.printed()).toMatch(/poll +completed\n/);
    for (const hidden of ['wh-2', 'Kofi']) expect(line.printed()).not.toContain(hidden);
  });

  it('prints all of it as JSON', async () => {
    const line = installation();
    expect(await line.run(...command, 'po-1', '--json')).toBe(0);
    expect(JSON.parse(line.printed())).toMatchObject({
      reference: 'po-1',
      payment: { status: 'COMPLETED' },
      reconciliation: { polls: 1 },
      missing: [],
      cut: [],
    });
  });

  it("finds a payment by the merchant's reference", async () => {
    const line = installation();
    expect(await line.run(...command, 'order-1', '--merchant', 'demo')).toBe(0);
    expect(line.requests).toContain('http://collections/payments?reference=order-1&merchant=demo');
    expect(line.printed()).toContain('po-1: COMPLETED');
  });

  it('shows what the others know where one service does not answer, and says which', async () => {
    const line = installation({ 'http://webhooks/deliveries?reference=po-1': silent });
    expect(await line.run(...command, 'po-1')).toBe(1);
    expect(line.printed()).toContain('entry capture');
    expect(line.printed()).toContain('missing: what webhook-dispatcher knows\n');
    expect(line.complained()).toBe(
      'pesewa: what is shown is without that of webhook-dispatcher: http://webhooks does not answer: start the service, or set its address\n',
    );
  });

  it('names a service that refuses, and one whose answer it can not read', async () => {
    const line = installation({
      'http://ledger/entries?reference=po-1': () => ({ status: 403, body: { message: 'wrong token' } }),
      'http://reconciler/timeline?reference=po-1': () => ok({ other: true }),
    });
    expect(await line.run(...command, 'po-1', '--json')).toBe(1);
    const { missing } = JSON.parse(line.printed()) as { missing: { service: string }[] };
    expect(missing.map(({ service }) => service).toSorted()).toEqual(['ledger', 'reconciler']);
  });

  it('refuses an unknown payment, and text that is no reference', async () => {
    const line = installation();
    expect(await line.run(...command, 'po-9')).toBe(1);
    expect(line.complained()).toContain('reference: there is nothing about po-9');
    const hostile = installation();
    expect(await hostile.run(...command, '../po-1')).toBe(1);
    expect(hostile.requests).toEqual([]);
  });

  it('follows pages up to a bound, and says that there is more', async () => {
    const callbacks = 'http://ingress/callbacks?reference=po-1';
    const many = Array(100).fill(callback);
    const line = installation({
      [callbacks]: () => page(many, 'cb-1'),
      [`${callbacks}&after=cb-1`]: () => page(many, 'cb-1'),
    });
    expect(await line.run(...command, 'po-1')).toBe(0);
    expect(line.requests.filter((url) => String(url).startsWith(callbacks))).toHaveLength(5);
    expect(line.printed()).toContain('there are more callbacks than are shown\n');
  });
});

describe("a merchant's reference", () => {
  const collection = {
    ...payout,
    kind: 'collection',
    reference: 'co-1',
    operatorCode: 'MTN',
    flow: 'otp',
    completions: 1,
    completionClosed: false,
  };
  const byMerchant = 'http://collections/payments?reference=order-1&merchant=demo';

  it('of both a payout and a collection has to be disambiguated', async () => {
    const line = installation({
      [byMerchant]: () => ok(collection),
    });
    expect(await line.run('timeline', 'order-1', '--merchant', 'demo')).toBe(1);
    expect(line.complained()).toContain('ask by ours, po-1 or co-1');
  });

  it('is not called unknown where a gateway can not be asked', async () => {
    const line = installation({
      'http://payouts/payments?reference=order-1&merchant=demo': silent,
    });
    expect(await line.run('timeline', 'order-1', '--merchant', 'demo')).toBe(1);
    expect(line.complained()).toContain("can't be looked up");
  });

  it('that the merchant has not used is refused', async () => {
    const line = installation();
    expect(await line.run('timeline', 'order-2', '--merchant', 'demo')).toBe(1);
    expect(line.complained()).toContain(
      'demo has no payment order-2, neither by its own reference nor by ours: see pesewa payments list',
    );
  });
});

it('what a rail claims moves no cursor', async () => {
  const line = installation({
    'http://ingress/callbacks?reference=po-1': () =>
      page([{ ...callback, claimedStatus: '\u001b[2JCOMPLETED\u202e' }]),
  });
  await line.run('timeline', 'po-1');
  expect(line.printed()).toContain('claims \ufffd[2JCOMPLETED\ufffd');
});
