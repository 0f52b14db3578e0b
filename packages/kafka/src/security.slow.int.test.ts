import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@pesewa/kernel';
import {
  createCertificateAuthority,
  encodeRecordBody,
  eventually,
  openTestSecuredKafka,
} from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkKafkaAccess, createKafka, type KafkaSettings, kafkaConnection, openProducer } from './index.ts';

const password = 'canary-of-the-right-password';
const wrongPassword = 'canary-of-a-wrong-password';

type SecuredKafka = Awaited<ReturnType<typeof openTestSecuredKafka>>;
type Logged = readonly [level: string, message: string, fields: Readonly<Record<string, unknown>>];

let broker: SecuredKafka;
let directory: string;

beforeAll(async () => {
  [broker, directory] = await Promise.all([
    openTestSecuredKafka([{ name: 'pesewa', password }]),
    mkdtemp(join(tmpdir(), 'pesewa-security-')),
  ]);
});

afterAll(async () => {
  await broker[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const scram = (overrides: Partial<KafkaSettings> = {}): KafkaSettings => ({
  KAFKA_BROKERS: [broker.saslBroker],
  KAFKA_TLS: 'on',
  KAFKA_TLS_CA: broker.authority.certificate,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'pesewa',
  KAFKA_SASL_PASSWORD: password,
  ...overrides,
});

/** The error that these settings lead to at the broker. */
const refusal = (settings: KafkaSettings): Promise<string> => {
  const access = checkKafkaAccess(kafkaConnection(settings, systemClock));
  return access.then(
    () => 'let in',
    (error: unknown) => String(error),
  );
};

/** Sends one message through a new client and reads it with another, both with the same settings. */
async function exchangeMessage(settings: KafkaSettings): Promise<string> {
  const topic = `t-${crypto.randomUUID()}`;
  const connection = kafkaConnection(settings, systemClock);
  const options = { ...connection, clientId: 'test', log: () => undefined };
  const [admin, consumer] = [createKafka(options).admin(), createKafka(options).consumer({ groupId: topic })];
  await using producer = openProducer({ ...options, clock: systemClock, partitionsOf: () => 1 });
  await Promise.all([admin.connect(), consumer.connect()]);
  await admin.createTopics({ topics: [{ topic }], waitForLeaders: true });
  const body = encodeRecordBody({ key: 'wallet', value: 'sent in secret' });
  await producer.produce({ source: 'test', records: [{ topic, key: 'wallet', body }] });
  const read = Promise.withResolvers<string>();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachMessage: ({ message }) => Promise.resolve(read.resolve(String(message.value))),
  });
  const value = await read.promise;
  await Promise.all([admin.disconnect(), consumer.disconnect()]);
  return value;
}

describe('a broker that wants TLS and credentials', () => {
  it.each(['scram-sha-256', 'scram-sha-512', 'plain'] as const)(
    'takes and gives messages by %s',
    async (mechanism) => {
      expect(await exchangeMessage(scram({ KAFKA_SASL_MECHANISM: mechanism }))).toBe('sent in secret');
    },
  );

  it('takes and gives messages by a certificate of ours', async () => {
    const { certificate, key } = broker.authority.issue('pesewa');
    const settings: KafkaSettings = {
      KAFKA_BROKERS: [broker.mutualBroker],
      KAFKA_TLS: 'on',
      KAFKA_TLS_CA: broker.authority.certificate,
      KAFKA_TLS_CERTIFICATE: certificate,
      KAFKA_TLS_KEY: key,
    };
    expect(await exchangeMessage(settings)).toBe('sent in secret');
    const foreign = createCertificateAuthority('another authority').issue('pesewa');
    expect(
      await refusal({ ...settings, KAFKA_TLS_CERTIFICATE: foreign.certificate, KAFKA_TLS_KEY: foreign.key }),
    ).toMatch(/check KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY/);
  });

  it('says what is wrong with a password, and not which', async () => {
    const message = await refusal(scram({ KAFKA_SASL_PASSWORD: wrongPassword }));
    expect(message).toMatch(/check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD/);
    expect(message).not.toContain(wrongPassword);
  });

  it('is not believed where another authority signs for it', async () => {
    const other = createCertificateAuthority('another authority').certificate;
    expect(await refusal(scram({ KAFKA_TLS_CA: other }))).toMatch(/check KAFKA_TLS_CA/);
  });

  it('is not believed under a name that its certificate does not have', async () => {
    const byName = scram({ KAFKA_BROKERS: [broker.saslBroker.replace('127.0.0.1', 'localhost')] });
    expect(await refusal(byName)).toMatch(/for other names/);
  });

  it('refuses clients without credentials, or without TLS', async () => {
    const { KAFKA_BROKERS } = scram();
    expect(await refusal(scram({ KAFKA_SASL_MECHANISM: undefined }))).toMatch(/KAFKA_SASL_MECHANISM/);
    expect(await refusal({ KAFKA_BROKERS })).toMatch(/KAFKA_TLS/);
    expect(await refusal({ ...scram(), KAFKA_BROKERS: [broker.plaintextBroker] })).toMatch(/speak no TLS/);
  });

  it('logs what to do, and no secret', async () => {
    const logged: Logged[] = [];
    const connection = kafkaConnection(scram({ KAFKA_SASL_PASSWORD: wrongPassword }), systemClock);
    const log = (...line: Logged) => void logged.push(line);
    const admin = createKafka({ ...connection, clientId: 'test', log }).admin();
    const error: unknown = await admin.connect().catch((thrown: unknown) => thrown);
    await admin.disconnect();
    expect(logged.map(([, , { remedy }]) => remedy)).toContain(
      'the brokers refuse us: check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD',
    );
    expect(JSON.stringify([logged, error, String(error)])).not.toContain(wrongPassword);
  });
});

describe('a broker that wants tokens', () => {
  /** A program that prints the next of some tokens at each call, and counts its calls. */
  async function tokenCommand(tokens: readonly string[]) {
    const folder = await mkdtemp(join(directory, 'tokens-'));
    const calls = join(folder, 'calls');
    const program = join(folder, 'token.sh');
    await Promise.all(tokens.map((token, index) => writeFile(join(folder, `${index + 1}`), token)));
    const script = `#!/bin/sh\necho call >>${calls}\nn=$(wc -l <${calls})\n[ -f ${folder}/$((n)) ] || n=${tokens.length}\ncat ${folder}/$((n))\n`;
    await writeFile(program, script);
    await chmod(program, 0o755);
    const count = async () => (await readFile(calls, 'utf8').catch(() => '')).split('call').length - 1;
    return { command: program, count };
  }

  const settings = (command: string): KafkaSettings => ({
    KAFKA_BROKERS: [broker.saslBroker],
    KAFKA_TLS: 'on',
    KAFKA_TLS_CA: broker.authority.certificate,
    KAFKA_SASL_MECHANISM: 'oauthbearer',
    KAFKA_SASL_TOKEN_COMMAND: command,
  });

  it('takes and gives messages, with one token for all connections', async () => {
    const { command, count } = await tokenCommand([broker.issueToken(3_600)]);
    expect(await exchangeMessage(settings(command))).toBe('sent in secret');
    expect(await count()).toBe(1);
  });

  it('gets a new token before the session of the first one ends', async () => {
    const { command, count } = await tokenCommand([broker.issueToken(5), broker.issueToken(3_600)]);
    const connection = kafkaConnection(settings(command), systemClock);
    const admin = createKafka({ ...connection, clientId: 'test', log: () => undefined }).admin();
    await admin.connect();
    expect(await count()).toBe(1);
    await eventually(async () => {
      await admin.listTopics();
      expect(await count()).toBe(2);
    });
    await admin.disconnect();
  });

  it('says that a token is refused, and not which', async () => {
    const token = broker.issueToken(-60);
    const { command } = await tokenCommand([token]);
    const message = await refusal(settings(command));
    expect(message).toMatch(/refuse the token of KAFKA_SASL_TOKEN_COMMAND/);
    expect(message).not.toContain(token);
  });

  it('says that there is no token', async () => {
    expect(await refusal(settings('/no/such/program'))).toMatch(
      /KAFKA_SASL_TOKEN_COMMAND can't be run \(ENOENT\)/,
    );
  });
});
