import { generateKeyPairSync } from 'node:crypto';
import { createCertificateAuthority } from '@pesewa/testkit';
import { describe, expect, it } from 'vitest';
import { connectionProblems, connectionSettings, environmentSetting, parseConfig } from './index.ts';

const schema = connectionSettings.extend({ NODE_ENV: environmentSetting });
const authority = createCertificateAuthority('test authority');
const own = authority.issue('pesewa');
const canary = 'canary-of-a-secret';

const secure = {
  MONGODB_URL: `mongodb://hub:${canary}@db-1.example.com,db-2.example.com/?replicaSet=rs0&tls=true`,
  KAFKA_BROKERS: 'kafka-1.example.com:9093,kafka-2.example.com:9093',
  KAFKA_TLS: 'on',
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'hub',
  KAFKA_SASL_PASSWORD: canary,
  SCHEMA_REGISTRY_URL: 'https://registry.example.com/apis/ccompat/v7',
  SCHEMA_REGISTRY_USERNAME: 'hub',
  SCHEMA_REGISTRY_PASSWORD: canary,
};

const plain = {
  MONGODB_URL: 'mongodb://127.0.0.1:27017/?directConnection=true',
  KAFKA_BROKERS: '127.0.0.1:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8080/apis/ccompat/v7',
};

type Variables = Readonly<Record<string, string>>;

/** The names of the variables with problems. */
const complaints = (variables: Variables, overrides: Variables = {}): readonly string[] => {
  const problems = connectionProblems(parseConfig(schema, { ...variables, ...overrides }));
  expect(JSON.stringify(problems)).not.toContain(canary);
  return problems.map(({ variable }) => variable);
};

const without = (name: keyof typeof secure): Variables =>
  Object.fromEntries(Object.entries(secure).filter(([variable]) => variable !== name));

describe('production, which is what no NODE_ENV means', () => {
  it('takes what is encrypted and has credentials', () => {
    expect(complaints(secure)).toEqual([]);
  });

  it('refuses what is not, and says which switch allows it', () => {
    const problems = connectionProblems(parseConfig(schema, plain));
    expect(problems.map(({ variable }) => variable)).toEqual([
      'KAFKA_TLS',
      'KAFKA_SASL_MECHANISM',
      'SCHEMA_REGISTRY_URL',
      'SCHEMA_REGISTRY_USERNAME',
      'MONGODB_URL',
      'MONGODB_URL',
    ]);
    expect(problems.every(({ message }) => message.includes('into ALLOW_INSECURE'))).toBe(true);
  });

  it.each([
    ['kafka', ['SCHEMA_REGISTRY_URL', 'SCHEMA_REGISTRY_USERNAME', 'MONGODB_URL', 'MONGODB_URL']],
    ['registry', ['KAFKA_TLS', 'KAFKA_SASL_MECHANISM', 'MONGODB_URL', 'MONGODB_URL']],
    ['mongodb', ['KAFKA_TLS', 'KAFKA_SASL_MECHANISM', 'SCHEMA_REGISTRY_URL', 'SCHEMA_REGISTRY_USERNAME']],
    ['kafka, registry, mongodb', []],
  ])('lets %s be insecure where ALLOW_INSECURE says so, and nothing else', (allowed, left) => {
    expect(complaints(plain, { ALLOW_INSECURE: allowed })).toEqual(left);
  });

  it.each([
    ['mongodb+srv://hub:x@db.example.com/', []],
    ['mongodb+srv://hub:x@db.example.com/?tls=false', ['MONGODB_URL']],
    ['mongodb://hub:x@db.example.com/?ssl=true', []],
    ['mongodb://hub:x%40y@[::1]:27017,db-2.example.com:27018/admin?tls=true&tlsCAFile=/some/ca.pem', []],
    ['mongodb://hub:x@db.example.com/?TLS=true', []],
    ['mongodb://hub:x@db.example.com/?tls=true&ssl=false', ['MONGODB_URL']],
    ['mongodb://hub:x@db.example.com/', ['MONGODB_URL']],
    ['mongodb://db.example.com/?tls=true', ['MONGODB_URL']],
    ['mongodb://db.example.com/?tls=true&authMechanism=MONGODB-X509', []],
    ['mongodb://hub:x@db.example.com/?tls=true&tlsInsecure=true', ['MONGODB_URL']],
    ['mongodb://hub:x@db.example.com/?tls=true&tlsAllowInvalidHostnames=true', ['MONGODB_URL']],
  ])('judges %s', (url, expected) => {
    expect(complaints(secure, { MONGODB_URL: url })).toEqual(expected);
  });

  it('takes a certificate of ours in place of SASL', () => {
    const mutual = { KAFKA_TLS_CERTIFICATE: own.certificate, KAFKA_TLS_KEY: own.key };
    const { MONGODB_URL, KAFKA_BROKERS, KAFKA_TLS, ...rest } = secure;
    const { SCHEMA_REGISTRY_URL, SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD } = rest;
    const registry = { SCHEMA_REGISTRY_URL, SCHEMA_REGISTRY_USERNAME, SCHEMA_REGISTRY_PASSWORD };
    expect(complaints({ MONGODB_URL, KAFKA_BROKERS, KAFKA_TLS, ...registry }, mutual)).toEqual([]);
  });
});

it.each(['development', 'test'])('%s takes what is plain', (NODE_ENV) => {
  expect(complaints(plain, { NODE_ENV })).toEqual([]);
});

it('judges what is connected to, and nothing else', () => {
  expect(connectionProblems({ NODE_ENV: 'production' })).toEqual([]);
});

describe('settings that contradict each other are refused everywhere', () => {
  const NODE_ENV = 'development';

  it.each([
    [{ KAFKA_SASL_PASSWORD: canary }, ['KAFKA_SASL_PASSWORD']],
    [{ KAFKA_SASL_MECHANISM: 'scram-sha-256' }, ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']],
    [
      { KAFKA_TLS: 'on', KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_PASSWORD: canary },
      ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_TOKEN_COMMAND'],
    ],
    [{ KAFKA_SASL_TOKEN_COMMAND: 'token' }, ['KAFKA_SASL_TOKEN_COMMAND']],
    [{ KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_COMMAND: 'token' }, ['KAFKA_SASL_MECHANISM']],
    [{ KAFKA_TLS_CA: authority.certificate }, ['KAFKA_TLS_CA']],
    [{ KAFKA_TLS: 'on', KAFKA_TLS_KEY: own.key }, ['KAFKA_TLS_CERTIFICATE']],
    [{ KAFKA_TLS: 'on', KAFKA_TLS_CERTIFICATE: own.certificate }, ['KAFKA_TLS_KEY']],
    [
      {
        KAFKA_TLS: 'on',
        KAFKA_TLS_CERTIFICATE: own.certificate,
        KAFKA_TLS_KEY: authority.issue('other').key,
      },
      ['KAFKA_TLS_KEY'],
    ],
    [{ SCHEMA_REGISTRY_USERNAME: 'hub', SCHEMA_REGISTRY_PASSWORD: canary }, ['SCHEMA_REGISTRY_PASSWORD']],
    [{ SCHEMA_REGISTRY_TLS_CA: authority.certificate }, ['SCHEMA_REGISTRY_TLS_CA']],
    [{ SCHEMA_REGISTRY_URL: `http://hub:${canary}@registry.example.com` }, ['SCHEMA_REGISTRY_URL']],
  ] satisfies readonly (readonly [Variables, readonly string[]])[])(
    '%o',
    (overrides: Variables, expected) => {
      expect(complaints(plain, { NODE_ENV, ...overrides })).toEqual(expected);
    },
  );

  it('a password without its user', () => {
    expect(complaints(without('SCHEMA_REGISTRY_USERNAME'), { NODE_ENV })).toEqual([
      'SCHEMA_REGISTRY_USERNAME',
    ]);
    expect(complaints(without('KAFKA_SASL_USERNAME'), { NODE_ENV })).toEqual(['KAFKA_SASL_USERNAME']);
  });

  it('a secret in clear, unless that is allowed', () => {
    const token = { KAFKA_SASL_MECHANISM: 'oauthbearer', KAFKA_SASL_TOKEN_COMMAND: 'token' };
    const login = { SCHEMA_REGISTRY_USERNAME: 'hub', SCHEMA_REGISTRY_PASSWORD: canary };
    const all = { NODE_ENV, ...token, ...login };
    const password = { KAFKA_SASL_USERNAME: 'hub', KAFKA_SASL_PASSWORD: canary };
    const sent = { NODE_ENV, KAFKA_SASL_MECHANISM: 'plain', ...password };
    expect(complaints(plain, sent)).toEqual(['KAFKA_SASL_MECHANISM']);
    expect(complaints(plain, all)).toEqual(['KAFKA_SASL_MECHANISM', 'SCHEMA_REGISTRY_PASSWORD']);
    expect(complaints(plain, { ...all, ALLOW_INSECURE: 'kafka,registry' })).toEqual([]);
  });
});

describe('what can not be read', () => {
  it.each([
    ['MONGODB_URL', `mongodb://hub:${canary}@with-an-at@db.example.com/`],
    ['MONGODB_URL', `mongodb://hub:1?${canary}@db.example.com/`],
    ['MONGODB_URL', `mongodb://hub:1/${canary}@db.example.com/`],
    ['MONGODB_URL', `mongodb://hub:1#${canary}@db.example.com/`],
    ['MONGODB_URL', `postgres://hub:${canary}@db.example.com/`],
    ['KAFKA_TLS', canary],
    ['KAFKA_TLS_CA', canary],
    ['KAFKA_TLS_KEY', `-----BEGIN PRIVATE KEY-----\n${canary}\n-----END PRIVATE KEY-----\n`],
    ['KAFKA_SASL_MECHANISM', `plain-${canary}`],
    ['SCHEMA_REGISTRY_URL', `hub:${canary}@registry`],
    ['ALLOW_INSECURE', canary],
  ])('of %s is reported by the variable’s name, and its value is never quoted', (variable, value) => {
    const read = () => parseConfig(schema, { ...secure, [variable]: value });
    expect(read).toThrow(`${variable}`);
    expect(read).not.toThrow(canary);
  });

  it('as a private key with a passphrase', () => {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: canary },
    });
    expect(() => parseConfig(schema, { ...secure, KAFKA_TLS_KEY: privateKey })).toThrow(
      'KAFKA_TLS_KEY: must be a private key in PEM, without a passphrase',
    );
  });
});
