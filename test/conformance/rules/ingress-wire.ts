import { describe, expect, it } from 'vitest';
import { callbackBody, ingress, type Kind, unknownReference } from '../ingress.ts';

const kinds = ['payouts', 'collections'] as const satisfies readonly Kind[];
const KIB = 1_024;
const BODY_BYTES_MAX = 8 * KIB;

/** A readable callback of exactly this many bytes. */
function bodyOf(kind: Kind, ours: string, bytes: number): string {
  const body = callbackBody(kind, ours, { status: 'COMPLETED' });
  return `${body}${' '.repeat(bytes - Buffer.byteLength(body))}`;
}

/** A collection's callback with one field replaced by JSON text. */
function withField(ours: string, field: string, text: string): string {
  const body = JSON.parse(callbackBody('collections', ours, { status: 'COMPLETED' })) as object;
  return JSON.stringify({ ...body, [field]: JSON.rawJSON('"@"') }).replace('"@"', text);
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('contract 10.16: two addresses per rail, and nothing else', () => {
  it.each([
    ['GET', '/rails/upstream/payouts'],
    ['PUT', '/rails/upstream/collections'],
    ['DELETE', '/rails/upstream/payouts'],
    ['POST', '/rails/nobody/payouts'],
    ['POST', '/rails/upstream/refunds'],
    ['POST', '/rails/upstream'],
    ['POST', '/rails/UPSTREAM/payouts'],
    ['POST', '/rails/%2e%2e/payouts'],
    ['POST', '/callbacks'],
    ['GET', '/metrics'],
    ['GET', '/callbacks/rejected'],
  ])('%s %s', async (method, path) => {
    const { ingressUrl } = ingress.scenario.stack.runFile();
    const body = callbackBody('payouts', unknownReference('payouts'), { status: 'COMPLETED' });
    const answer = await fetch(`${ingressUrl}${path}`, { method, ...(method !== 'GET' && { body }) });
    expect([404, 405]).toContain(answer.status);
  });
});

describe.each(kinds)('contract 10.16: bodies of %s', (kind) => {
  it('are taken up to 8 KiB, and not a byte more', async () => {
    const ours = unknownReference(kind);
    const largest = bodyOf(kind, ours, BODY_BYTES_MAX);
    expect(await ingress.send({ rail: 'upstream', kind, body: largest })).toMatchObject({ status: 200 });
    const larger = bodyOf(kind, ours, BODY_BYTES_MAX + 1);
    expect(await ingress.send({ rail: 'upstream', kind, body: larger })).toMatchObject({ status: 413 });
    expect(await ingress.kept(ours)).toHaveLength(1);
  });

  it('of another kind, and of none, are refused and kept as evidence', async () => {
    const other = kind === 'payouts' ? 'collections' : 'payouts';
    const bodies = [
      callbackBody(other, unknownReference(other), { status: 'COMPLETED' }),
      `${kind} {}`,
      JSON.stringify({ data: kind }),
      `[${callbackBody(kind, unknownReference(kind), { status: 'COMPLETED' })}]`,
      `${callbackBody(kind, unknownReference(kind), { status: 'COMPLETED' })}}`,
    ];
    for (const body of bodies) {
      expect(await ingress.send({ rail: 'upstream', kind, body }), body).toMatchObject({ status: 400 });
      expect(await ingress.rejections(body), body).toEqual(['body.malformed']);
    }
  });

  it('that name no payment of ours by its form are refused: a foreign text may be a phone number', async () => {
    for (const reference of ['2207000001', 'inv-1', unknownReference(kind).toUpperCase(), '']) {
      const body = callbackBody(kind, reference, { status: 'COMPLETED' });
      expect(await ingress.send({ rail: 'upstream', kind, body }), reference).toMatchObject({ status: 400 });
    }
  });

  it('with a letter that is no UTF-8 in a text are taken: what a hint says is ASCII', async () => {
    const body = Buffer.from(callbackBody(kind, unknownReference(kind), { status: 'COMPLETED', mark: '?' }));
    body[body.indexOf('?')] = 0xff;
    expect(await ingress.send({ rail: 'upstream', kind, body })).toMatchObject({ status: 200 });
  });

  it('that are compressed are refused: what is signed and kept are the bytes themselves', async () => {
    const body = callbackBody(kind, unknownReference(kind), { status: 'COMPLETED' });
    const headers = ['content-encoding', 'gzip'];
    expect(await ingress.send({ rail: 'upstream', kind, body, headers })).toMatchObject({ status: 415 });
  });
});

describe('contract 10.16: what hurts a reader', () => {
  it.each([100, 1_000, 3_000])('JSON %d levels deep is refused, and the ingress lives', async (depth) => {
    const body = withField(unknownReference('collections'), 'received_from', nested(depth));
    const answer = await ingress.send({ rail: 'upstream', kind: 'collections', body });
    expect(answer.status).toBe(400);
    const ours = unknownReference('collections');
    const next = callbackBody('collections', ours, { status: 'COMPLETED' });
    expect(await ingress.send({ rail: 'upstream', kind: 'collections', body: next })).toMatchObject({
      status: 200,
    });
  });

  it.each([
    ['an amount of a thousand digits', 'amount_received', '9'.repeat(1_000)],
    ['an amount that is a text', 'amount_received', '"many"'],
    ['an amount that is an object', 'amount_received', '{}'],
    ['a status that is no status of the contract', 'status', '"SUCCESS"'],
    ['a status in other letters', 'status', '"completed"'],
    ['a reference that is a number', 'merchant_reference', '42'],
    ['a reference that is a list', 'merchant_reference', '["co-1"]'],
    ['a reference that is a query', 'merchant_reference', '{"$ne":null}'],
  ])('%s is refused', async (_what, field, text) => {
    const body = withField(unknownReference('collections'), field, text);
    expect(await ingress.send({ rail: 'upstream', kind: 'collections', body })).toMatchObject({
      status: 400,
    });
  });
});
