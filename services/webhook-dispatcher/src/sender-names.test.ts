import { promises as dns } from 'node:dns';
import { NameUnresolvedError } from '@pesewa/addresses';
import { systemClock } from '@pesewa/kernel';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openSender } from './sender.ts';

const resources = new Set<AsyncDisposable>();
afterEach(async () => {
  for (const resource of resources) await resource[Symbol.asyncDispose]();
  resources.clear();
});

const common = { connectionsPerOriginMax: 1, clock: systemClock };

test('a public name that resolves to an inner address is refused at connect', async () => {
  const names: string[] = [];
  const resolveName = async (name: string) => {
    names.push(name);
    return [{ address: '127.0.0.1', family: 4 }];
  };
  const sender = openSender({
    allowedOrigins: [],
    deadlineMs: 500,
    ...common,
    resolveName,
  });
  resources.add(sender);
  const sent = await sender.send({ url: 'https://merchant.example.com/', headers: {}, body: '{}' });
  expect(sent).toEqual({ kind: 'failed', error: 'not_public' });
  expect(names).toEqual(['merchant.example.com']);
});

test('names are asked for over the network, not in the threads that all of the process shares', async () => {
  const { prototype } = dns.Resolver;
  const four = vi.spyOn(prototype, 'resolve4').mockResolvedValue(['127.0.0.1'] as never);
  const six = vi.spyOn(prototype, 'resolve6').mockResolvedValue([]);
  onTestFinished(() => void vi.restoreAllMocks());
  const sender = openSender({ allowedOrigins: [], deadlineMs: 500, ...common });
  resources.add(sender);
  const sent = await sender.send({ url: 'https://merchant.example.com/', headers: {}, body: '{}' });
  expect(sent).toEqual({ kind: 'failed', error: 'not_public' });
  for (const asked of [four, six]) expect(asked).toHaveBeenCalledWith('merchant.example.com');
});

test('a name that no name server knows is an error of name resolution', async () => {
  const sender = openSender({
    allowedOrigins: [],
    deadlineMs: 500,
    ...common,
    resolveName: () => Promise.reject(new NameUnresolvedError('unknown')),
  });
  resources.add(sender);
  const sent = await sender.send({ url: 'https://merchant.example.com/', headers: {}, body: '{}' });
  expect(sent).toEqual({ kind: 'failed', error: 'dns' });
});

test.each(['send', 'observe'] as const)('%s: resolving a name ends with the attempt', async (call) => {
  const signals: (AbortSignal | undefined)[] = [];
  const sender = openSender({
    allowedOrigins: [],
    deadlineMs: 200,
    ...common,
    // As a name server that never answers, for a resolver that waits much longer than the attempt.
    resolveName: (_hostname, signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new NameUnresolvedError('given up')));
      });
    },
  });
  resources.add(sender);
  await sender[call]({ url: 'https://merchant.example.com/', headers: {}, body: '{}' });
  expect(signals).toHaveLength(call === 'send' ? 1 : 2);
  await expect.poll(() => signals.every((signal) => signal?.aborted)).toBe(true);
});
