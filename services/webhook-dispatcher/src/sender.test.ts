import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type DetailedPeerCertificate,
  getCACertificates,
  setDefaultCACertificates,
  TLSSocket,
} from 'node:tls';
import { NameUnresolvedError } from '@pesewa/addresses';
import { systemClock } from '@pesewa/kernel';
import { createCertificateAuthority } from '@pesewa/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { openSender, readRetryAfter } from './sender.ts';

const resources = new Set<AsyncDisposable>();
afterEach(async () => {
  for (const resource of resources) await resource[Symbol.asyncDispose]();
  resources.clear();
});

const common = { connectionsPerOriginMax: 1, clock: systemClock };

/** An endpoint, and a sender that may call it. */
async function open(
  listener: RequestListener,
  deadlineMs = 2_000,
  { server, protocol }: { server: Server; protocol: string } = {
    server: createServer(listener),
    protocol: 'http',
  },
) {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const origin = `${protocol}://127.0.0.1:${port}`;
  const sender = openSender({
    allowedOrigins: [origin],
    deadlineMs,
    connectionsPerOriginMax: 4,
    clock: systemClock,
  });
  resources.add(sender);
  resources.add({
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
  return {
    origin,
    send: (path: string) => sender.send({ url: `${origin}${path}`, headers: { 'x-test': '1' }, body: '{}' }),
    observe: (path: string) => sender.observe({ url: `${origin}${path}`, headers: {}, body: '{}' }),
  };
}

test('posts the body with its headers', async () => {
  const seen: unknown[] = [];
  const endpoint = await open((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      seen.push([request.method, request.url, request.headers['x-test'], body]);
      response.writeHead(204).end();
    });
  });
  expect(await endpoint.send('/hooks?a=b')).toEqual({ kind: 'answered', status: 204, retryAfterMs: null });
  expect(seen).toEqual([['POST', '/hooks?a=b', '1', '{}']]);
});

test('a redirect is an answer, not followed', async () => {
  const paths: (string | undefined)[] = [];
  const endpoint = await open((request, response) => {
    paths.push(request.url);
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  expect(await endpoint.send('/')).toMatchObject({ status: 307 });
  expect(paths).toEqual(['/']);
});

test('Retry-After is read', async () => {
  const endpoint = await open((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end());
  expect(await endpoint.send('/')).toEqual({ kind: 'answered', status: 503, retryAfterMs: 7_000 });
  expect(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 1_000)).toBe(59_000);
  expect(readRetryAfter('Thu, 01 Jan 1970 00:00:00 GMT', 1_000)).toBe(0);
  expect(readRetryAfter('soon', 1_000)).toBeNull();
});

test('no answer within the deadline is a timeout', async () => {
  const endpoint = await open(() => undefined, 200);
  expect(await endpoint.send('/')).toEqual({ kind: 'failed', error: 'timeout' });
});

test('a body without end is cut at the deadline', async () => {
  const closed = Promise.withResolvers<void>();
  const endpoint = await open((_request, response) => {
    response.on('close', closed.resolve);
    response.writeHead(200).write('slow');
  }, 300);
  expect(await endpoint.send('/')).toMatchObject({ status: 200 });
  await closed.promise;
});

test('a body beyond the cap is cut', async () => {
  let written = 0;
  const closed = Promise.withResolvers<void>();
  const endpoint = await open((_request, response) => {
    const chunk = 'a'.repeat(16_384);
    let isOpen = true;
    const more = () => {
      while (isOpen && response.write(chunk)) written += chunk.length;
    };
    response.on('drain', more);
    response.on('close', () => {
      isOpen = false;
      closed.resolve();
    });
    response.writeHead(200);
    more();
  }, 30_000);
  expect(await endpoint.send('/')).toMatchObject({ status: 200 });
  await closed.promise;
  expect(written).toBeLessThan(50_000_000);
});

test('a reset connection and a closed port are distinguished', async () => {
  const endpoint = await open((request) => request.socket.destroy());
  expect(await endpoint.send('/')).toEqual({ kind: 'failed', error: 'reset' });
  const closedPort = 'http://127.0.0.1:1';
  const sender = openSender({
    allowedOrigins: [closedPort],
    deadlineMs: 500,
    ...common,
  });
  resources.add(sender);
  expect(await sender.send({ url: closedPort, headers: {}, body: '{}' })).toEqual({
    kind: 'failed',
    error: 'connect',
  });
});

test('an address that is not allowed is never called', async () => {
  let calls = 0;
  const endpoint = await open((_request, response) => {
    calls += 1;
    response.end();
  });
  const sender = openSender({
    allowedOrigins: [],
    deadlineMs: 500,
    ...common,
  });
  resources.add(sender);
  const refused = { kind: 'failed', error: 'refused' };
  expect(await sender.send({ url: endpoint.origin, headers: {}, body: '{}' })).toEqual(refused);
  expect(
    await sender.send({ url: endpoint.origin.replace('http:', 'https:'), headers: {}, body: '{}' }),
  ).toEqual(refused);
  expect(calls).toBe(0);
});

test('people are told of a redirect, and of a body that is longer than what is read', async () => {
  const endpoint = await open((request, response) => {
    if (request.url === '/long') response.end('x'.repeat(70_000));
    else response.writeHead(302, { location: '/long' }).end();
  });
  expect(await endpoint.observe('/')).toMatchObject({
    result: { status: 302 },
    isRedirect: true,
    isBodyCut: false,
  });
  expect(await endpoint.observe('/long')).toMatchObject({ result: { status: 200 }, isBodyCut: true });
});

test('people are told which rule an address breaks, and where a name leads', async () => {
  const sender = openSender({
    allowedOrigins: [],
    deadlineMs: 2_000,
    ...common,
    resolveName: async (hostname) => {
      if (hostname === 'none.example') throw new NameUnresolvedError('unknown');
      return [{ address: '10.0.0.1', family: 4 }];
    },
  });
  resources.add(sender);
  const observe = (url: string) => sender.observe({ url, headers: {}, body: '{}' });
  const failed = (error: string) => ({ kind: 'failed', error });
  expect(await observe('https://shop.example:8443/')).toMatchObject({
    result: failed('refused'),
    rule: 'address.port',
    resolved: null,
  });
  expect(await observe('https://shop.example/')).toMatchObject({
    result: failed('not_public'),
    rule: null,
    resolved: ['10.0.0.1'],
  });
  expect(await observe('https://none.example/')).toMatchObject({ result: failed('dns'), resolved: [] });
});

test('people are told where a call connected, and of TLS', async () => {
  const authority = createCertificateAuthority('Authority of tests');
  const trusted = getCACertificates('default');
  const answer: RequestListener = (_request, response) => response.end();
  const openTls = (host: string) => {
    const { certificate: cert, key } = authority.issue('endpoint', [host]);
    return open(answer, 2_000, { server: createTlsServer({ cert, key }, answer), protocol: 'https' });
  };
  const [plain, good, misnamed] = await Promise.all([
    open(answer),
    openTls('127.0.0.1'),
    openTls('other.example'),
  ]);
  const connectedTo = '127.0.0.1';
  expect((await plain.observe('/')).connection).toEqual({ connectedTo, tls: null, tlsProblem: null });
  const tlsProblem = 'unable_to_verify_leaf_signature';
  expect(await good.observe('/')).toMatchObject({
    result: { kind: 'failed', error: 'tls' },
    connection: { connectedTo: null, tls: null, tlsProblem },
  });
  setDefaultCACertificates([...trusted, authority.certificate]);
  try {
    const tls = { version: 'TLSv1.3', issuer: 'Authority of tests', expiresAt: '2099-12-31T23:59:59.000Z' };
    expect((await good.observe('/')).connection).toEqual({ connectedTo, tls, tlsProblem: null });
    // A call before it leaves a connection open, which is not used.
    await good.send('/');
    expect((await good.observe('/')).connection.tls).toEqual(tls);
    const { getPeerCertificate } = TLSSocket.prototype;
    const read = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate');
    for (const unreadable of [null, {}, { issuer: null }, { issuer: {}, valid_to: 'never' }]) {
      // Node itself checks the host by the detailed one.
      read.mockImplementation(function (this: TLSSocket, isDetailed) {
        const detailed = getPeerCertificate.call(this, true);
        return isDetailed ? detailed : (unreadable as unknown as DetailedPeerCertificate);
      });
      const connection = { connectedTo, tls: null, tlsProblem: null };
      expect(await good.observe('/')).toMatchObject({ result: { status: 200 }, connection });
    }
    read.mockRestore();
    expect((await misnamed.observe('/')).connection.tlsProblem).toBe('err_tls_cert_altname_invalid');
  } finally {
    setDefaultCACertificates(trusted);
  }
});
