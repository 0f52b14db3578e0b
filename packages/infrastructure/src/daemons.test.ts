import { describe, expect, test } from 'vitest';
import { archivePath } from './class-archive.ts';
import { imageName, kafkaContainerSettings } from './docker.ts';
import { parseDockerHost } from './docker-engine.ts';
import { javaMajor } from './java.ts';
import { kafkaEnvironment, kafkaProperties, kafkaSettings, metaProperties } from './kafka.ts';
import { mongodArguments } from './mongod.ts';
import { registryArguments } from './registry.ts';
import { startFailure } from './wait.ts';

describe('how the daemons are started', () => {
  test('mongod is a loopback replica set; kept data gets a quick but clean end', () => {
    const fresh = mongodArguments(27018, { dataDirectory: '/d', fresh: true });
    expect(fresh.join(' ')).toContain('--dbpath /d/db --port 27018 --bind_ip 127.0.0.1');
    expect(fresh.join(' ')).toContain('--replSet rs0 --wiredTigerCacheSizeGB 1');
    expect(fresh.join(' ')).not.toContain('shutdownTimeout');
    expect(mongodArguments(1, { dataDirectory: '/d', fresh: false }).join(' ')).toContain('shutdownTimeout');
  });

  test('the broker listens on the loopback address and creates no topic unasked', () => {
    const node = { id: 1, brokerPort: 9100, controllerPort: 9101 };
    const lines = kafkaProperties(node, [node], '/d/logs').split('\n');
    expect(lines).toContain('listeners=PLAINTEXT://127.0.0.1:9100,CONTROLLER://127.0.0.1:9101');
    expect(lines).toContain('controller.quorum.voters=1@127.0.0.1:9101');
    expect(lines).toContain('log.dirs=/d/logs');
    expect(lines).toContain('auto.create.topics.enable=false');
  });

  test('what is kept has as many copies as there are brokers, and a write is on all but one of them', () => {
    const voters = [1, 2, 3].map((id) => ({ id, controllerPort: 9100 + id }));
    const where = { listeners: '', advertised: '', interBroker: 'PLAINTEXT' };
    expect(kafkaSettings({ ...where, nodeId: 2, voters })).toMatchObject({
      'node.id': '2',
      'controller.quorum.voters': '1@127.0.0.1:9101,2@127.0.0.1:9102,3@127.0.0.1:9103',
      'offsets.topic.replication.factor': '3',
      'min.insync.replicas': '2',
      'broker.session.timeout.ms': '6000',
    });
    expect(kafkaSettings({ ...where, nodeId: 1, voters: voters.slice(0, 1) })).toMatchObject({
      'offsets.topic.replication.factor': '1',
      'min.insync.replicas': '1',
    });
  });

  test('a formatted directory is recognised by its ids', () => {
    expect(metaProperties('c', 'd', 2)).toBe('cluster.id=c\ndirectory.id=d\nnode.id=2\nversion=1\n');
  });

  test('in a container the broker is known by the host port outside and by its own inside', () => {
    const env = kafkaEnvironment(kafkaContainerSettings('localhost', 31000));
    expect(env['KAFKA_ADVERTISED_LISTENERS']).toBe('PLAINTEXT://localhost:31000,BROKER://127.0.0.1:19092');
    expect(env['KAFKA_NODE_ID']).toBe('1');
    expect(env['KAFKA_INTER_BROKER_LISTENER_NAME']).toBe('BROKER');
  });

  test('the registry keeps its ids in a file only where the data stays', () => {
    expect(registryArguments(1, '/i', { dataDirectory: '/d', fresh: true }).join(' ')).not.toContain(
      'h2:file',
    );
    expect(registryArguments(1, '/i', { dataDirectory: '/d', fresh: false })).toContain(
      '-Dapicurio.datasource.url=jdbc:h2:file:/d/registry',
    );
  });

  test('images are the standard ones unless the environment names others', () => {
    expect(imageName({}, 'mongodb')).toBe('mongo:8');
    expect(imageName({ KAFKA_IMAGE: 'own/kafka:1' }, 'kafka')).toBe('own/kafka:1');
  });
});

describe('what is read from the outside', () => {
  test.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_412"', 8],
    ['openjdk version "25" 2025-09-16', 25],
    ['command not understood', undefined],
  ])('%s is Java %s', (output, major) => {
    expect(javaMajor(output)).toBe(major);
  });

  test('DOCKER_HOST names a socket or a host', () => {
    expect(parseDockerHost('unix:///run/d.sock')).toEqual({ socketPath: '/run/d.sock' });
    expect(parseDockerHost('tcp://10.0.0.1:2376')).toEqual({ host: '10.0.0.1', port: 2376 });
    expect(parseDockerHost('ssh://user@host')).toBeUndefined();
  });

  test('each Java has a class archive of its own', () => {
    expect(archivePath('/c/kafka-1', 'Java 17')).toMatch(/^\/c\/kafka-1-[0-9a-f]{12}\.jsa$/);
    expect(archivePath('/c/kafka-1', 'Java 17')).not.toBe(archivePath('/c/kafka-1', 'Java 21'));
  });
});

describe('why a daemon did not start', () => {
  test('a known cause says what to do', () => {
    expect(startFailure('Kafka', 'exit code 1', 'x\njava.io.IOException: No space left on device\ny')).toBe(
      'Kafka stopped while starting: the disk is full: free some space and start again',
    );
  });

  test('for an unknown cause the last line with an error is shown', () => {
    expect(startFailure('Kafka', 'exit code 1', 'one\nERROR two\nthree\n')).toBe(
      'Kafka stopped while starting (exit code 1): ERROR two',
    );
    expect(startFailure('Kafka', 'SIGKILL', '')).toBe(
      'Kafka stopped while starting (SIGKILL): its log is empty',
    );
  });
});
