import { connect, createServer, type Socket } from 'node:net';

/**
 * A connection to the database that can be stalled: nothing passes through it and it does not close, until it is let go and
 * passes anything again.
 */
export async function openStallableProxy(mongodbUrl: string) {
  const { hostname, port } = new URL(mongodbUrl);
  const sockets = new Set<Socket>();
  let isStalled = false;
  const server = createServer((near) => {
    sockets.add(near);
    if (isStalled) return;
    const far = connect(Number(port), hostname);
    sockets.add(far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `mongodb://127.0.0.1:${address.port}/?directConnection=true`,
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    letGo: () => {
      isStalled = false;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
