// This import comes first, because what is loaded of kafkajs below must be patched.
import './kafkajs.ts';
import { createRequire } from 'node:module';
import { type Clock, withDeadline } from '@pesewa/kernel';
import { clientConfig, type KafkaOptions } from './client.ts';
import type { KafkaMessage } from './kafkajs.ts';
import { type ClusterMetadata, metadataRequest, type WireRequest } from './wire.ts';

/** Longer than a healthy node needs, and short enough to skip a silent one soon. */
const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 5_000;

interface Offsets {
  readonly topic: string;
  readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
}

/** A broker with an authenticated connection whose API versions are known. */
export interface Broker {
  readonly isConnected: () => boolean;
  readonly connectionPool: { readonly send: <Answer>(exchange: WireRequest<Answer>) => Promise<Answer> };
  readonly listOffsets: (request: {
    /** 0: every replicated message counts, even if its transaction is still open. */
    readonly isolationLevel: 0;
    readonly topics: readonly {
      readonly topic: string;
      /** A time in milliseconds; -1 for the end, -2 for the oldest message. */
      readonly partitions: readonly { readonly partition: number; readonly timestamp: number }[];
    }[];
  }) => Promise<{ readonly responses: readonly Offsets[] }>;
  readonly fetch: (request: {
    readonly replicaId: -1;
    readonly isolationLevel: 0;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly {
        readonly partition: number;
        readonly fetchOffset: string;
        readonly maxBytes: number;
      }[];
    }[];
  }) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { readonly messages: readonly KafkaMessage[] }[];
    }[];
  }>;
  readonly findGroupCoordinator: (group: {
    readonly groupId: string;
    readonly coordinatorType: 0;
  }) => Promise<{ readonly coordinator: { readonly nodeId: number } }>;
  readonly offsetFetch: (request: {
    readonly groupId: string;
    readonly topics: readonly {
      readonly topic: string;
      readonly partitions: readonly { readonly partition: number }[];
    }[];
  }) => Promise<{ readonly responses: readonly Offsets[] }>;
}

interface ClosableNode extends Broker {
  readonly connect: () => Promise<void>;
  readonly disconnect: () => Promise<void>;
}

/**
 * The brokers of a cluster, with one connection each.
 *
 * kafkajs's own pool asks any connected broker and waits for it, and a paused broker stays connected without answering.
 * Here each request has a timeout and then goes to the next broker.
 */
export type Brokers = ReturnType<typeof openBrokers>;

const NOTHING = 0;
const require = createRequire(import.meta.url);
const buildPools = require('kafkajs/src/cluster/connectionPoolBuilder') as (
  options: Readonly<Record<string, unknown>>,
) => { readonly build: (address: { host: string; port: number }) => Promise<unknown> };
const BrokerClass = require('kafkajs/src/broker') as new (
  options: Readonly<Record<string, unknown>>,
) => ClosableNode;
const createSocketFactory = require('kafkajs/src/network/socketFactory') as () => unknown;
const { createLogger } = require('kafkajs/src/loggers') as {
  readonly createLogger: (options: Readonly<Record<string, unknown>>) => unknown;
};

interface Address {
  readonly host: string;
  readonly port: number;
}

const keyOf = ({ host, port }: Address) => `${host}:${port}`;

/** kafkajs rejects the requests that still wait for an answer once their own timeout is over. */
function close(node: ClosableNode): void {
  node.disconnect().catch(() => undefined);
}

/** One connection per address, opened on demand. */
function createConnections(settings: KafkaOptions & { readonly clock: Clock }) {
  const config = clientConfig(settings);
  // The caller logs failures; a line for each attempt of each connection would only repeat that.
  const logger = createLogger({ level: NOTHING, logCreator: config.logCreator });
  const pools = buildPools({ ...config, logger, socketFactory: createSocketFactory() });
  const connections = new Map<string, Promise<ClosableNode>>();

  async function connect(address: Address): Promise<ClosableNode> {
    const connectionPool = await pools.build({ ...address });
    const node = new BrokerClass({ connectionPool, logger, allowAutoTopicCreation: false });
    await withDeadline(node.connect(), CONNECT_TIMEOUT_MS, settings.clock).catch((error: unknown) => {
      close(node);
      throw error;
    });
    return node;
  }

  return {
    at: async (address: Address): Promise<Broker> => {
      const key = keyOf(address);
      const known = connections.get(key);
      const found = await known?.catch(() => undefined);
      if (found?.isConnected()) return found;
      // Its connection or its token has expired.
      if (found) close(found);
      const meanwhile = connections.get(key);
      if (meanwhile && meanwhile !== known) return meanwhile;
      const connecting = connect(address);
      connecting.catch(() => undefined);
      connections.set(key, connecting);
      return connecting;
    },
    forget: (address: Address): void => {
      const key = keyOf(address);
      connections.get(key)?.then(close, () => undefined);
      connections.delete(key);
    },
    closeAll: (): void => {
      for (const connecting of connections.values()) connecting.then(close, () => undefined);
      connections.clear();
    },
  };
}

/** Opens the connections to the brokers, each when it is first needed. */
export function openBrokers(settings: KafkaOptions & { readonly clock: Clock }) {
  const connections = createConnections(settings);
  const seeds = settings.brokers.map((address): Address => {
    const [host = '', port = ''] = address.split(/:(?=\d+$)/);
    return { host, port: Number(port) };
  });
  const addresses = new Map<number, Address>();
  let turn = 0;

  async function any<Answer>(question: (node: Broker) => Promise<Answer>): Promise<Answer> {
    const distinct = new Map([...addresses.values(), ...seeds].map((address) => [keyOf(address), address]));
    const all = [...distinct.values()];
    turn += 1;
    let last: unknown = new Error('Kafka has no broker');
    for (let index = 0; index < all.length; index += 1) {
      const address = all[(turn + index) % all.length];
      if (!address) continue;
      try {
        return await withDeadline(connections.at(address).then(question), ANSWER_TIMEOUT_MS, settings.clock);
      } catch (error) {
        last = error;
        connections.forget(address);
      }
    }
    throw last;
  }

  return {
    /** Sends the request to one broker after another until one answers; rejects with the last one's error. */
    any,
    byId: async (id: number): Promise<Broker> => {
      const address = addresses.get(id);
      if (!address) throw new Error(`Kafka's broker ${id} is not known`);
      return connections.at(address);
    },
    metadata: async (topics: readonly string[]): Promise<ClusterMetadata> => {
      const metadata = await any((node) =>
        node.connectionPool.send(metadataRequest(topics, ANSWER_TIMEOUT_MS)),
      );
      for (const { id, host, port } of metadata.brokers) addresses.set(id, { host, port });
      return metadata;
    },
    /** Forgets the connection to a broker, so that the next request opens a new one. */
    drop: (id: number) => {
      const address = addresses.get(id);
      if (address) connections.forget(address);
    },
    [Symbol.asyncDispose]: async () => connections.closeAll(),
  };
}
