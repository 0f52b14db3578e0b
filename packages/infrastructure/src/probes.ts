import { connect } from 'node:net';
import { MongoClient } from 'mongodb';

const connectTimeoutMs = 2_000;

/** A MongoDB server's state. */
export interface MongoState {
  /** The replica set's name; undefined for a server that is in none. */
  readonly replicaSet: string | undefined;
  /** True for a router of a sharded cluster, whose shards are replica sets. */
  readonly sharded: boolean;
  readonly primary: boolean;
  readonly secondary: boolean;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Opens a client for one short task and always closes it. */
export async function withMongo<T>(
  url: string,
  errand: (client: MongoClient) => Promise<T>,
  timeoutMs = connectTimeoutMs,
): Promise<T> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    monitorCommands: false,
  });
  try {
    return await errand(client);
  } finally {
    await client.close();
  }
}

/** Asks a MongoDB server, or the set behind the address, for its state. Rejects if none answers. */
export function probeMongo(url: string, timeoutMs?: number): Promise<MongoState> {
  const ask = async (client: MongoClient): Promise<MongoState> => {
    const hello = await client.db('admin').command({ hello: 1 });
    return {
      replicaSet: textOf(hello['setName']),
      sharded: hello['msg'] === 'isdbgrid',
      primary: hello['isWritablePrimary'] === true,
      secondary: hello['secondary'] === true,
    };
  };
  return withMongo(url, ask, timeoutMs);
}

const metadataRequest = ((): Buffer => {
  const clientId = Buffer.from('pesewa');
  const body = Buffer.alloc(10 + clientId.length + 4);
  body.writeInt16BE(3, 0); // api: metadata
  body.writeInt16BE(1, 2); // version 1, understood by every broker up to 4.x
  body.writeInt32BE(1, 4); // correlation
  body.writeInt16BE(clientId.length, 8);
  clientId.copy(body, 10);
  body.writeInt32BE(0, 10 + clientId.length); // no topics, only brokers
  const framed = Buffer.alloc(4 + body.length);
  framed.writeInt32BE(body.length, 0);
  body.copy(framed, 4);
  return framed;
})();

const brokersAt = 8;

/** The node ids in a complete answer, in which each broker has an id, host, port and rack. */
function brokerIds(answer: Buffer): number[] {
  let at = brokersAt + 4;
  const textSize = (): number => 2 + Math.max(0, answer.readInt16BE(at));
  return Array.from({ length: answer.readInt32BE(brokersAt) }, () => {
    const id = answer.readInt32BE(at);
    at += 4;
    at += textSize() + 4;
    at += textSize();
    return id;
  });
}

/**
 * Asks one Kafka broker (`host:port`) for the node ids of its cluster's unfenced brokers. It uses no client library: a
 * starting broker accepts connections before it knows any broker, and asking every few milliseconds must be cheap.
 */
export function probeKafka(
  address: string,
  timeoutMs: number = connectTimeoutMs,
): Promise<readonly number[]> {
  const separator = address.lastIndexOf(':');
  const host = address.slice(0, separator).replaceAll(/[[\]]/g, '');
  const port = Number(address.slice(separator + 1));
  if (separator < 1 || !Number.isInteger(port) || port < 1 || port > 65_535) {
    return Promise.reject(new Error(`${address} is no host:port`));
  }
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let received = Buffer.alloc(0);
    const finish = (act: () => void): void => {
      socket.destroy();
      act();
    };
    socket.setTimeout(timeoutMs, () => finish(() => reject(new Error('no answer in time'))));
    socket.once('error', (error) => finish(() => reject(error)));
    socket.once('close', () => reject(new Error('the connection was closed')));
    socket.once('connect', () => socket.write(metadataRequest));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return;
      finish(() => resolve(brokerIds(received)));
    });
  });
}

/** Asks a schema registry (its Confluent-compatible base) for its subjects. Rejects if it gives no list. */
export async function probeRegistry(url: string, timeoutMs: number = connectTimeoutMs): Promise<void> {
  const address = new URL(`${url.replace(/\/+$/, '')}/subjects`);
  const headers = new Headers();
  if (address.username !== '') {
    const login = `${decodeURIComponent(address.username)}:${decodeURIComponent(address.password)}`;
    headers.set('authorization', `Basic ${Buffer.from(login).toString('base64')}`);
    address.username = '';
    address.password = '';
  }
  const response = await fetch(address, { headers, signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`it answers ${response.status}`);
  const subjects: unknown = await response.json();
  if (!Array.isArray(subjects)) throw new Error('it answers no list of subjects');
}
