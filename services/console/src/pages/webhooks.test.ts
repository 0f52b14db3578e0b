import type {
  AttemptView,
  DeliveryDetailView,
  DeliveryView,
  EndpointView,
  TestView,
} from '@pesewa/contracts';
import { ClientError } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import { type Answers, answered, openConsole, textOf } from '../console.fixture.ts';

const evil = `<script>alert(1)</script>"'`;

/** The same as it stands in the query of a link. */
const evilInPaths = new URLSearchParams({ it: evil }).toString().slice('it='.length);

const delivery = (id: string, more: Partial<DeliveryView> = {}): DeliveryView => ({
  id,
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: evil,
  kind: 'payout-completed',
  state: 'exhausted',
  attempts: 12,
  createdAt: '2026-11-26T12:00:00.000Z',
  dueAt: null,
  lastStatus: 503,
  lastError: null,
  reason: evil,
  ...more,
});

const detail = (id: string, more: Partial<DeliveryView> = {}): DeliveryDetailView => ({
  ...delivery(id, more),
  address: `https://shop.example/${evil}`,
  body: `{"amount":2468.40,"name":"${evil.replaceAll('"', '\\"')}"}`,
  headers: { 'webhook-id': evil },
});

const endpoint = {
  merchantId: 'demo',
  endpoint: evil,
  state: 'disabled',
  pending: 2,
  failing: 1,
  deferred: 1_240,
  exhausted: 37,
  cut: ['pending', 'deferred'],
  oldestCreatedAt: null,
  nextAt: null,
  failingSince: '2026-11-25T12:00:00.000Z',
  lastSuccessAt: null,
  lastStatus: null,
  lastError: 'timed_out',
} satisfies EndpointView;

const list = 'webhook-dispatcher GET /deliveries';
const shown = 'webhook-dispatcher GET /deliveries/wh-1';
const answers: Answers = {
  'webhook-dispatcher GET /endpoints': { items: [endpoint], next: null },
  [list]: { items: [delivery('wh-1'), delivery('wh-2')], next: 'wh-2' },
  [shown]: detail('wh-1'),
  'webhook-dispatcher GET /deliveries/wh-2': detail('wh-2'),
  'webhook-dispatcher GET /deliveries/wh-1/attempts': {
    items: [
      { at: '2026-11-26T12:00:00.000Z', status: 503, durationMs: 312 },
      { at: '2026-11-26T13:00:00.000Z', error: 'timed_out', durationMs: 10_000 },
    ] satisfies AttemptView[],
    next: null,
  },
  'webhook-dispatcher POST /deliveries/wh-1/resend': answered(202, { id: 'wh-1', state: 'pending' }),
};
const resend = 'webhook-dispatcher POST /deliveries/wh-1/resend';

describe('the page of webhooks', () => {
  it('shows endpoints with what is owed, and those that were given up; each count leads to its list', async () => {
    const { signIn } = openConsole(answers);
    const { html } = await (await signIn('ama')).get('/webhooks');
    const [merchant, name] = ['merchant=demo', `endpoint=${evilInPaths}`];
    expect(html).toContain(`href="/webhooks?${merchant}&amp;${name}&amp;state=deferred">1,240+</a>`);
    expect(html).toContain(`href="/webhooks?${merchant}&amp;${name}&amp;state=exhausted">37</a>`);
    expect(html).toContain('href="/webhooks?state=exhausted">100+</a>');
    expect(html).toContain('href="/webhooks/deliveries/wh-1"');
    expect(html).toContain('href="/payments/po-1"');
    expect(html).toContain('href="/webhooks/enable?merchant=demo&amp;endpoint=');
    expect(html).not.toContain('<script>alert');
    expect(textOf(html)).toContain('timed out');
  });

  it('passes on its filters and the place to go on from, and keeps them', async () => {
    const { signIn, asked } = openConsole(answers);
    const { html } = await (await signIn('ama')).get(
      '/webhooks?merchant=demo&endpoint=payouts&state=delivered&from=27/11/2026 08:00:00&cursor=wh-0',
    );
    expect(asked.map(({ what }) => what)).toContain(
      `${list}?merchantId=demo&endpoint=payouts&state=delivered&from=2026-11-27T08%3A00%3A00.000Z&after=wh-0`,
    );
    expect(html).toContain(
      'state=delivered&amp;from=27%2F11%2F2026+08%3A00%3A00&amp;cursor=wh-2">Next page</a>',
    );
  });

  it('says which time it could not read, and shows the rest', async () => {
    const { signIn } = openConsole(answers);
    const page = textOf((await (await signIn('ama')).get('/webhooks?merchant=demo&from=yesterday')).html);
    expect(page).toContain('from: yesterday is no time: write 27/11/2026');
    expect(page).toContain('1,240');
  });

  it('says what to do if nothing matches', async () => {
    const { signIn } = openConsole({ ...answers, [list]: { items: [], next: null } });
    const { html } = await (await signIn('ama')).get('/webhooks?merchant=none');
    expect(html).toContain('<a href="/webhooks">Clear the filters</a>');
  });

  it('offers changes to those alone who may make them', async () => {
    const { signIn } = openConsole(answers);
    const { html } = await (await signIn('kofi', 'viewer')).get('/webhooks');
    expect(html).not.toContain('Send the chosen ones again');
    expect(html).not.toContain('Enable…');
    expect(html).toContain('this takes the role operator');
  });
});

describe('a webhook', () => {
  it('shows its attempts, its payment, and its body with amounts as they are written', async () => {
    const { signIn } = openConsole(answers);
    const { html } = await (await signIn('ama')).get('/webhooks/deliveries/wh-1');
    expect(textOf(html)).toContain('"amount": 2468.40');
    expect(textOf(html)).toContain('timed out 10000');
    expect(html).toContain('href="/payments/po-1"');
    expect(html).toContain('href="/webhooks/resend?pick-0=wh-1"');
    expect(html).not.toContain('<script>alert');
  });

  it('is sent again once, and is shown then', async () => {
    const { signIn, asked } = openConsole(answers);
    const ama = await signIn('ama');
    const form = await ama.get('/webhooks/resend?pick-0=wh-1');
    expect(textOf(form.html)).toContain('Send this webhook again');
    const sent = await ama.post('/webhooks/resend', { 'pick-0': 'wh-1' });
    expect([sent.status, sent.goesTo]).toEqual([303, '/webhooks/deliveries/wh-1']);
    expect(asked.filter(({ what }) => what === resend)).toHaveLength(1);
  });

  it('that is due shows itself anew until its attempt has met something', async () => {
    const standing = async (more: Partial<DeliveryView>) => {
      const { signIn } = openConsole({ ...answers, [shown]: detail('wh-1', more) });
      return (await (await signIn('ama')).get('/webhooks/deliveries/wh-1')).html;
    };
    const due = await standing({ state: 'pending', dueAt: '2026-11-27T11:59:59.000Z', reason: null });
    expect(textOf(due)).toContain('It is due now');
    expect(due).toContain('hx-trigger="every 2s"');
    const later = await standing({ state: 'pending', dueAt: '2026-11-27T14:00:00.000Z' });
    expect(textOf(later)).not.toContain('It is due now');
    expect(later).toContain('hx-trigger="every 30s"');
    expect(await standing({ state: 'delivered' })).not.toContain('hx-trigger');
  });

  it('is sent again with others: each has its result, also if some could not be asked for', async () => {
    const { signIn, asked } = openConsole({
      ...answers,
      'webhook-dispatcher POST /deliveries/wh-2/resend': () => {
        throw new ClientError('webhook-dispatcher: no answer');
      },
    });
    const ama = await signIn('ama');
    const sent = await ama.post('/webhooks/resend', { 'pick-0': 'wh-2', 'pick-1': 'wh-9', 'pick-2': 'wh-1' });
    const text = textOf(sent.html);
    expect(text).toContain('Send webhooks again: 1 of 3 done');
    expect(text).toMatch(
      /wh-2 +failed +webhook-dispatcher: no answer\. What you asked for may have taken effect/,
    );
    expect(text).toMatch(/wh-9 +failed +webhook-dispatcher: nothing for .* wh-1 +done/);
    for (const field of ['name="pick-0" value="wh-2"', 'name="pick-1" value="wh-9"'])
      expect(sent.html).toContain(field);
    expect(asked.filter(({ what }) => what.includes('POST'))).toHaveLength(3);
  });

  it('is not said to be sent because an address says it', async () => {
    const { signIn } = openConsole(answers);
    const page = await (await signIn('ama')).get('/webhooks/resend?pick-0=wh-1&pick-1=wh-2&sent=yes');
    expect(textOf(page.html)).toContain('Send these 2 webhooks again?');
    expect(textOf(page.html)).not.toContain('made due');
    expect(page.html).toContain('<button type="submit" class="primary">Send these 2 webhooks again</button>');
  });

  it('has to be chosen', async () => {
    const { signIn } = openConsole(answers);
    const page = await (await signIn('ama')).get('/webhooks/resend');
    expect(textOf(page.html)).toContain('Nothing was chosen. Choose webhooks in the list');
    expect(page.html).not.toContain('class="primary"');
  });
});

describe('an endpoint', () => {
  const enable = 'webhook-dispatcher POST /endpoints/enable';
  const enabled = {
    merchantId: 'demo',
    endpoint: 'payouts',
    waiting: 1_240,
    failingSince: endpoint.failingSince,
  };

  it('is enabled after a dry run, by one call', async () => {
    const { signIn, asked } = openConsole({ [enable]: { ...enabled, enabled: false } });
    const ama = await signIn('ama');
    const form = await ama.get('/webhooks/enable?merchant=demo&endpoint=payouts');
    expect(textOf(form.html)).toContain('Enable payouts of demo, and send 1,240 webhooks');
    expect(textOf(form.html)).toContain('Kept for it: 1,240 webhooks , sent once it is enabled');
    const done = await ama.post('/webhooks/enable', { merchant: 'demo', endpoint: 'payouts' });
    expect(done.goesTo).toBe('/webhooks?merchant=demo');
    const calls = asked.filter(({ what }) => what === enable).map(({ body }) => body);
    const named = { merchantId: 'demo', endpoint: 'payouts' };
    expect(calls).toEqual([{ ...named, dryRun: true }, named]);
  });

  it('that is not disabled is not enabled, and the page says so', async () => {
    const refusal = answered(409, { code: 'not_disabled', message: 'it is not disabled' });
    const { signIn } = openConsole({ [enable]: refusal });
    const done = await (await signIn('ama')).post('/webhooks/enable', { merchant: 'demo', endpoint: evil });
    expect(done.status).toBe(409);
    expect(textOf(done.html)).toContain('it is not disabled');
    expect(done.html).not.toContain('<script>alert');
  });

  it('gets a test webhook, and the page explains what it met', async () => {
    const met = {
      id: 'wt-1',
      address: `http://shop.example/${evil}`,
      finding: 'address_refused',
      rule: 'address.not_https',
      resolved: null,
      connectedTo: null,
      tls: null,
      tlsProblem: null,
      signature: null,
      status: null,
      error: null,
      durationMs: 3,
      deadlineMs: 15_000,
      isBodyCut: false,
      sentBody: '{}',
    } satisfies TestView;
    const what = 'webhook-dispatcher POST /merchants/demo/test-webhook';
    const { signIn, asked } = openConsole({ [what]: met });
    const page = await (await signIn('ama')).post('/webhooks/test', { merchant: 'demo', kind: 'collection' });
    expect(page.status).toBe(200);
    expect(textOf(page.html)).toContain("it must begin with https://: change it on the merchant's page");
    expect(page.html).not.toContain('<script>alert');
    expect(asked.find((one) => one.what === what)?.body).toEqual({ kind: 'collection' });
  });

  it('of a merchant that is not known: the form is shown again with what was written', async () => {
    const { signIn } = openConsole();
    const page = await (await signIn('ama')).post('/webhooks/test', { merchant: 'nobody', kind: 'payout' });
    expect(page.status).toBe(422);
    expect(page.html).toContain('value="nobody"');
  });
});
