import { describe, expect, it } from 'vitest';
import { type KafkaSettings, kafkaConnection, kafkaRemedy } from './security.ts';

const clock = { nowMs: () => 0 };
const plain: KafkaSettings = { KAFKA_BROKERS: ['one:9092', 'two:9092'] };

describe('the settings of kafkajs', () => {
  it('is the brokers alone where nothing else is set', () => {
    expect(kafkaConnection({ ...plain, KAFKA_TLS: 'off' }, clock)).toEqual({
      brokers: ['one:9092', 'two:9092'],
    });
  });

  it('is TLS that trusts whom Broker trusts, or the authority that is named', () => {
    expect(kafkaConnection({ ...plain, KAFKA_TLS: 'on' }, clock)).toMatchObject({ ssl: {} });
    const mutual = { KAFKA_TLS_CA: 'ca', KAFKA_TLS_CERTIFICATE: 'cert', KAFKA_TLS_KEY: 'key' };
    expect(kafkaConnection({ ...plain, KAFKA_TLS: 'on', ...mutual }, clock).ssl).toEqual({
      ca: 'ca',
      cert: 'cert',
      key: 'key',
    });
  });

  it.each(['scram-sha-256', 'scram-sha-512', 'plain'] as const)(
    'is %s with user and password',
    (mechanism) => {
      const login = { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: 'hub', KAFKA_SASL_PASSWORD: 'p' };
      expect(kafkaConnection({ ...plain, ...login }, clock).sasl).toEqual({
        mechanism,
        username: 'hub',
        password: 'p',
      });
    },
  );

  it('is a way of our own to prove it by tokens', () => {
    const settings = {
      ...plain,
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_SASL_TOKEN_COMMAND: 'token',
    } as const;
    const { sasl } = kafkaConnection(settings, clock);
    expect(sasl?.mechanism).toBe('oauthbearer');
    expect(sasl && 'authenticationProvider' in sasl && typeof sasl.authenticationProvider).toBe('function');
  });
});

describe('what to do', () => {
  const tls: KafkaSettings = { ...plain, KAFKA_TLS: 'on' };
  const scram: KafkaSettings = { ...tls, KAFKA_SASL_MECHANISM: 'scram-sha-512' };

  it.each([
    [tls, 'Closed connection', /KAFKA_SASL_MECHANISM/],
    [plain, 'Closed connection', /KAFKA_TLS/],
    [plain, 'Connection error: read ECONNRESET', /KAFKA_TLS/],
    [scram, 'Connection error: self-signed certificate in certificate chain', /KAFKA_TLS_CA/],
    [scram, 'Connection error: certificate has expired', /renewed/],
    [scram, 'Connection error: ssl/tls alert handshake failure', /KAFKA_TLS_CERTIFICATE/],
    [scram, 'SASL SCRAM-SHA-256 mechanism is not supported by the server', /KAFKA_SASL_MECHANISM/],
  ] as const)('%#: about %o and %s', (settings, message, expected) => {
    expect(kafkaRemedy(message, kafkaConnection(settings, clock))).toMatch(expected);
  });

  it.each([
    'Closed connection',
    'Connection error: connect ECONNREFUSED 127.0.0.1:9092',
    'Request timed out',
  ])('is not known of "%s" where TLS and credentials are set', (message) => {
    expect(kafkaRemedy(message, kafkaConnection(scram, clock))).toBeUndefined();
  });
});
