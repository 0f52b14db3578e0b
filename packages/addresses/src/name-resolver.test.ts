import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { afterEach, expect, test } from 'vitest';
import { createNameResolver, NameUnresolvedError } from './name-resolver.ts';

const A = 1;
const HEADER_BYTES = 12;

const servers = new Set<Socket>();
afterEach(() => {
  for (const server of servers) server.close();
  servers.clear();
});

/** A name server on loopback: it answers questions for A records of the given names, and no other question at all. */
async function openNameServer(addresses: Readonly<Record<string, string>>) {
  const asked = new Set<string>();
  const socket = createSocket('udp4', (question, { address, port }) => {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.');
    asked.add(name);
    const known = addresses[name];
    if (known === undefined || question.readUInt16BE(at + 1) !== A) return;
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    // A response without errors, with one question and one answer.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(1, 6);
    header.fill(0, 8);
    // The name of the question, A, IN, a time to live of 60 s, four bytes.
    const answer = Buffer.from([
      0xc0,
      HEADER_BYTES,
      0,
      A,
      0,
      1,
      0,
      0,
      0,
      60,
      0,
      4,
      ...known.split('.').map(Number),
    ]);
    socket.send(Buffer.concat([header, question.subarray(HEADER_BYTES, at + 5), answer]), port, address);
  });
  servers.add(socket);
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

test('a name is found long before a question for its IPv6 addresses, never answered, would end', async () => {
  const server = await openNameServer({ 'merchant.example.com': '8.8.8.8' });
  const resolverOf = (timeoutMs: number) => createNameResolver({ nameServers: [server.address], timeoutMs });
  const ended: string[] = [];
  const unanswered = resolverOf(500)('dead.example.com').catch(() => void ended.push('unanswered'));
  const found = await resolverOf(10_000)('merchant.example.com');
  ended.push('found');
  await unanswered;
  expect([found, ended]).toEqual([[{ address: '8.8.8.8', family: 4 }], ['found', 'unanswered']]);
});

test('a lookup that is given up ends at once, and no other with it', async () => {
  const server = await openNameServer({});
  const resolveName = createNameResolver({ nameServers: [server.address], timeoutMs: 600_000 });
  const givingUp = new AbortController();
  const remaining = new AbortController();
  const ended: string[] = [];
  const look = async (name: string, { signal }: AbortController) => {
    await expect(resolveName(name, signal)).rejects.toBeInstanceOf(NameUnresolvedError);
    ended.push(name);
  };
  const looking = [look('one.example.com', givingUp), look('two.example.com', remaining)] as const;
  await expect.poll(() => server.asked.size).toBe(2);
  givingUp.abort();
  await looking[0];
  expect(ended).toEqual(['one.example.com']);
  remaining.abort();
  await looking[1];
});

test('names for which no server answers hold up nothing else of the process, and end by themselves', async () => {
  const server = await openNameServer({});
  const resolveName = createNameResolver({ nameServers: [server.address] });
  let ended = 0;
  const hanging = Array.from({ length: 64 }, (_, index) =>
    resolveName(`dead-${index}.example.com`).catch((error: unknown) => {
      ended += 1;
      return error;
    }),
  );
  await expect.poll(() => server.asked.size).toBe(64);
  expect(await lookup('127.0.0.1')).toEqual({ address: '127.0.0.1', family: 4 });
  expect(ended).toBe(0);
  for (const error of await Promise.all(hanging)) expect(error).toBeInstanceOf(NameUnresolvedError);
});
