import type { OutgoingEvent } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import {
  accepted,
  callback,
  collected,
  envelope,
  ids,
  initiated,
  payoutFailed,
  submitted,
} from '../fixtures/owners.ts';
import { recordsOf } from '../fixtures/records.ts';

const harness = createHarness('life', { ...process.env, BREAKS_RESOLVED_ALONE_UP_TO: 'KES:150' });
const { about, answers, operator, postAs, publish, rowOf } = harness;
const insertRecord = recordsOf(harness.gateway);
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const pathOf = (id: string, verb = '') => `/breaks/${encodeURIComponent(id)}${verb && `/${verb}`}`;
const show = async (id: string) =>
  (await operator(pathOf(id))) as unknown as Record<string, unknown> & {
    readonly history: readonly { readonly what: string; readonly by: string | null }[];
  };
const change = (id: string, verb: string, body: object, by = 'ama') => postAs(by, pathOf(id, verb), body);
const eventsOf = (reference: string) =>
  about(reference)
    .filter(({ type }) => type.includes('.Break'))
    .map(({ type }) => type.slice('pesewa.reconciliation.Break'.length));

/** A payout that failed here and was paid there: a break that waits for people. */
async function contradicted(): Promise<{ readonly reference: string; readonly id: string }> {
  const reference = ids.next('po');
  answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
  await publish(accepted(reference), payoutFailed(reference), callback(reference, 'COMPLETED'));
  await until('the break', () => eventsOf(reference).includes('Opened'));
  return { reference, id: `${reference}/status` };
}

/** A payout that the rail acknowledged and now denies: a break that closes with the payout's end. */
async function lost(): Promise<{ readonly reference: string; readonly id: string }> {
  const reference = ids.next('po');
  answers.set(reference, { kind: 'notFound' });
  await insertRecord('payouts', reference, 'INITIALIZED', { acknowledgedByRail: true });
  await publish(accepted(reference), submitted(reference, 'acknowledged'));
  await until('the break', () => eventsOf(reference).includes('Opened'));
  return { reference, id: `${reference}/status` };
}

const wallet = { merchantId: 'demo', currency: 'KES' };
const ledgerSays = (event: Pick<OutgoingEvent, 'type' | 'payload'>): OutgoingEvent =>
  ({ topic: 'ledger', key: 'demo:KES', causationId: null, version: 1n, ...event }) as OutgoingEvent;
const adjusted = (commandId: string, breakId: string | null, requestedAtMs = Date.now()) =>
  ledgerSays({
    type: 'pesewa.ledger.WalletAdjusted',
    payload: {
      ...envelope(),
      ...wallet,
      amount: 10_000n,
      direction: 'debit',
      commandId,
      breakId,
      requestedAt: BigInt(requestedAtMs),
    },
  });

beforeAll(harness.open);
afterAll(harness.close);

describe('people and a break', () => {
  it('take it from open to resolved and back, each in their own name, and the topic has none of their words', async () => {
    const { reference, id } = await contradicted();
    expect(await show(id)).toMatchObject({ status: 'open', rail: 'upstream', version: 1 });
    expect(await change(id, 'assign', { operator: 'nobody' })).toMatchObject({ status: 400 });
    expect((await change(id, 'assign', { operator: 'kofi' })).body).toMatchObject({
      status: 'assigned',
      owner: 'kofi',
    });
    await change(id, 'notes', { text: 'Mrs Mensah called' }, 'kofi');
    await change(id, 'explain', { explanation: 'Mrs Mensah was paid' }, 'kofi');
    const stale = await change(id, 'resolve', { resolution: 'Mrs Mensah knows', version: 3 }, 'kofi');
    expect(stale).toMatchObject({ status: 409, body: { code: 'changed' } });
    const request = { resolution: 'Mrs Mensah knows', version: 4 };
    const resolved = await change(id, 'resolve', request, 'kofi');
    expect(resolved.body).toMatchObject({ status: 'resolved', resolvedBy: 'kofi', version: 5 });
    expect(await change(id, 'resolve', request, 'kofi')).toEqual(resolved);
    expect((await change(id, 'reopen', { reason: 'she does not' })).body).toMatchObject({
      status: 'open',
      owner: null,
    });
    await until('all', () => eventsOf(reference).length === 3);
    expect(eventsOf(reference)).toEqual(['Opened', 'Resolved', 'Opened']);
    const texts = JSON.stringify(about(reference), (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(texts).not.toContain('Mensah');
    expect(about(reference, 'BreakResolved')[0]?.payload).toMatchObject({
      resolvedBy: 'kofi',
      kind: 'payment.contradiction',
      resolution: 'by an operator',
    });
  });

  it('resolve it once, even if somebody else does at the same moment', async () => {
    const { reference, id } = await contradicted();
    const rivals = await Promise.all(
      ['ama', 'kofi', 'operator'].map((by) => change(id, 'resolve', { resolution: `so says ${by}` }, by)),
    );
    expect(rivals.map(({ status }) => String(status)).toSorted()).toEqual(['200', '409', '409']);
    await until('the event', () => eventsOf(reference).includes('Resolved'));
    const { history } = await show(id);
    expect(history.map(({ what }) => what)).toEqual(['opened', 'resolved']);
  });

  it('resolve it together where it is of more money than the setting lets one of them', async () => {
    const reference = ids.next('co');
    const id = `${reference}/amount`;
    answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    await publish(initiated(reference), collected(reference, 10_000n));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    await publish(callback(reference, 'COMPLETED', '251', 'collection'));
    await until('the break', () => eventsOf(reference).includes('Opened'));
    expect(await show(id)).toMatchObject({ amount: '151' });
    const resolve = (by: string) => change(id, 'resolve', { resolution: `so says ${by}` }, by);
    for (const _ of [1, 2])
      expect((await resolve('ama')).body).toMatchObject({
        status: 'open',
        proposedResolution: { by: 'ama' },
      });
    expect(await resolve('kofi')).toMatchObject({ status: 409, body: { code: 'proposed_already' } });
    const { items } = await operator('/breaks?waitsForApproval=true');
    expect(items).toMatchObject([{ id, proposedResolution: { by: 'ama', resolution: 'so says ama' } }]);
    const approve = (version: unknown) => change(id, 'resolve', { approves: 'ama', version }, 'kofi');
    const seen = (await show(id))['version'];
    await change(id, 'resolve/reject', { reason: 'ask the rail first', version: seen }, 'kofi');
    const anew = (await resolve('ama')).body;
    expect(anew).toMatchObject({ proposedResolution: { by: 'ama' } });
    // It is the same text of the same operator, but not the proposal that was seen.
    expect(await approve(seen)).toMatchObject({ status: 409, body: { code: 'changed' } });
    const { body } = await approve(anew['version']);
    expect(body).toMatchObject({ status: 'resolved', resolution: 'so says ama' });
    await until('the event', () => eventsOf(reference).includes('Resolved'));
  });

  it('and its own end at the same moment: nothing that was taken is lost, and it closes once with its cause', async () => {
    const { reference, id } = await lost();
    await change(id, 'assign', { operator: 'kofi' });
    expect(await change(id, 'resolve', { resolution: 'never mind' })).toMatchObject({
      status: 409,
      body: { code: 'waits' },
    });
    const texts = Array.from({ length: 12 }, (_, number) => `note ${number}`);
    const [, ...notes] = await Promise.all([
      publish(payoutFailed(reference)),
      ...texts.map((text) => change(id, 'notes', { text })),
    ]);
    expect(notes.map(({ status }) => status)).toEqual(texts.map(() => 200));
    await until('the end', async () => (await show(id))['status'] === 'resolved');
    const { history, resolution, resolvedBy, owner, version } = await show(id);
    expect({ resolution, resolvedBy, owner }).toEqual({
      resolution: 'the payment ended: PayoutFailed',
      resolvedBy: null,
      owner: 'kofi',
    });
    expect(history.filter(({ what }) => what === 'noted')).toHaveLength(texts.length);
    expect(history.filter(({ what }) => what === 'resolved')).toMatchObject([{ by: null }]);
    expect(version).toBe(history.length);
    await until('the event', () => eventsOf(reference).includes('Resolved'));
    expect(eventsOf(reference)).toEqual(['Opened', 'Resolved']);
    expect(await change(id, 'explain', { explanation: 'late' })).toMatchObject({ status: 409 });
  });

  it('close what opened after a collection had ended, and a later callback of another amount opens it again', async () => {
    const reference = ids.next('co');
    const id = `${reference}/amount`;
    answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    await publish(initiated(reference), collected(reference, 10_000n));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    await publish(callback(reference, 'COMPLETED', '101', 'collection'));
    await until('the break', () => eventsOf(reference).includes('Opened'));
    expect((await change(id, 'resolve', { resolution: 'a slip of theirs' })).body).toMatchObject({
      status: 'resolved',
      resolvedBy: 'ama',
    });
    await publish(callback(reference, 'COMPLETED', '80', 'collection'));
    await until('it opens again', async () => (await show(id))['status'] === 'open');
    const { history, amount, resolution } = await show(id);
    expect({ amount, resolution }).toEqual({ amount: '-20', resolution: null });
    expect(history.map(({ what }) => what)).toEqual(['opened', 'resolved', 'opened again']);
  });

  it('leave the amount of an open collection to two of them', async () => {
    const reference = ids.next('co');
    answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    await publish(initiated(reference), callback(reference, 'COMPLETED', '101', 'collection'));
    await until('the break', () => eventsOf(reference).includes('Opened'));
    const id = `${reference}/amount`;
    expect(await change(id, 'resolve', { resolution: 'fine' })).toMatchObject({
      status: 409,
      body: { code: 'undecided' },
    });
    await change(id, 'explain', { explanation: 'they paid 101' });
    const proposed = await postAs('ama', '/decisions', { reference, amount: '101' });
    expect(proposed.status).toBe(202);
    expect((await postAs('kofi', `/decisions/${String(proposed.body['id'])}/approve`)).status).toBe(200);
    await publish(collected(reference, 10_100n));
    await until('the closing', async () => (await show(id))['status'] === 'resolved');
    expect(await show(id)).toMatchObject({ explanation: 'they paid 101', resolvedBy: null });
  });
});

describe('an order for a break', () => {
  it('resolves it with the entry of the ledger, and a replay changes nothing', async () => {
    const { reference, id } = await contradicted();
    const commandId = `cm-${reference}`;
    const entry = adjusted(commandId, id);
    await publish(entry, entry);
    await until('the end', async () => (await show(id))['status'] === 'resolved');
    const concluded = await show(id);
    expect(concluded).toMatchObject({
      resolution: `the ledger booked ${commandId}`,
      resolvedBy: null,
      corrections: [commandId],
    });
    await publish({ ...entry, payload: { ...entry.payload, ...envelope() } } as OutgoingEvent);
    await publish(accepted(ids.next('po')));
    await until('the events', () => eventsOf(reference).includes('Resolved'));
    expect(await show(id)).toEqual(concluded);
    expect(eventsOf(reference)).toEqual(['Opened', 'Resolved']);
  });

  it('is noted where people have resolved it meanwhile, each order once, and opens nothing', async () => {
    const { reference, id } = await contradicted();
    expect((await change(id, 'resolve', { resolution: 'written off' })).status).toBe(200);
    await publish(adjusted(`cm-1-${reference}`, id), adjusted(`cm-2-${reference}`, id));
    await until('both', async () => (await show(id))['version'] === 4);
    expect(await show(id)).toMatchObject({
      status: 'resolved',
      resolution: 'written off',
      resolvedBy: 'ama',
      corrections: [`cm-1-${reference}`, `cm-2-${reference}`],
    });
    expect(eventsOf(reference)).toEqual(['Opened', 'Resolved']);
  });

  it('that was proposed before it was found, or names none, or another, leaves it to people', async () => {
    const { reference, id } = await contradicted();
    await publish(
      adjusted(`cm-1-${reference}`, null),
      adjusted(`cm-2-${reference}`, `${reference}/nothing`),
      adjusted(`cm-3-${reference}`, id, 0),
    );
    await until('the last', async () => (await show(id))['version'] === 2);
    expect(await show(id)).toMatchObject({ status: 'open', corrections: [`cm-3-${reference}`] });
    expect((await change(id, 'resolve', { resolution: 'written off' })).status).toBe(200);
  });
});
