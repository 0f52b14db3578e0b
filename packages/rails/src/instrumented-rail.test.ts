import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { openRails, railSettings, takesPayouts } from './index.ts';
import { answering, createTestClock, minimalSettings, payout } from './rails.fixture.ts';

function openRail(transport: Parameters<typeof openRails>[1]['transport']) {
  const registry = new Registry();
  const clock = createTestClock();
  const settings = { ...minimalSettings, breakerFailures: 2, breakerOpenMs: 7_000 };
  const [rail] = openRails(railSettings.parse(JSON.stringify([settings])), {
    clock,
    transport,
    registry,
  }).all.filter(takesPayouts);
  if (!rail) throw new Error('no rail was opened');
  return { rail, clock, text: () => registry.metrics() };
}

it('measures calls by rail, operation and result, waiting for their turn included', async () => {
  const { rail, clock, text } = openRail(async (request) => {
    clock.now += 300;
    return answering(200, { isSuccessful: true, responseCode: '09' })(request);
  });
  await rail.payouts.submit(payout);
  await rail.payouts.lookUp({ reference: 'po-1', currency: 'GHS' });
  const metrics = await text();
  expect(metrics).toMatch(
    /rail_call_seconds_sum\{rail="upstream",operation="submit_payout",result="[a-z]+"\} 0\.3/,
  );
  expect(metrics).toMatch(
    /rail_call_seconds_count\{rail="upstream",operation="look_up_payout",result="[a-zA-Z]+"\} 1/,
  );
  expect(metrics).not.toContain('po-1');
});

it('counts apart that the rail refuses us for our funds, which nothing but people puts right', async () => {
  const answer = { isSuccessful: false, responseCode: '51', responseMessage: 'Insufficient funds' };
  const { rail, text } = openRail(answering(422, answer));
  await rail.payouts.submit(payout);
  expect(await text()).toContain(
    'rail_call_seconds_count{rail="upstream",operation="submit_payout",result="ourFault"} 1',
  );
});

it('counts apart that the rail refuses a question for our key', async () => {
  const { rail, text } = openRail(answering(401, ''));
  await rail.payouts.lookUp({ reference: 'po-1', currency: 'GHS' });
  expect(await text()).toContain(
    'rail_call_seconds_count{rail="upstream",operation="look_up_payout",result="ourFault"} 1',
  );
});

it('shows the circuit of each rail: closed, open, and half open once it may be probed', async () => {
  const { rail, clock, text } = openRail(answering(503, ''));
  const states = async () =>
    [...(await text()).matchAll(/rail_circuit_state\{rail="upstream",state="(\w+)"\} 1/g)].map(
      ([, state]) => state,
    );
  expect(await states()).toEqual(['closed']);
  for (const _ of [1, 2]) await rail.payouts.submit(payout);
  expect(await states()).toEqual(['open']);
  clock.now += 7_000;
  expect(await states()).toEqual(['half_open']);
});
