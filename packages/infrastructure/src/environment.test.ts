import { describe, expect, test } from 'vitest';
import { addressesIn, checkAddresses } from './environment.ts';
import { messageOf, StartError } from './errors.ts';
import { reservePorts } from './ports.ts';

const all = { MONGODB_URL: 'mongodb://m', KAFKA_BROKERS: 'k:9092', SCHEMA_REGISTRY_URL: 'http://r' };

describe('addresses in the environment', () => {
  test('all three are taken as they are', () => {
    expect(addressesIn({ ...all, OTHER: 'x' })).toEqual(all);
  });

  test('none, or only empty ones, mean another provider', () => {
    expect(addressesIn({})).toBeUndefined();
    expect(addressesIn({ MONGODB_URL: '', KAFKA_BROKERS: ' ' })).toBeUndefined();
  });

  test('some without the others are refused, naming both', () => {
    expect(() => addressesIn({ MONGODB_URL: 'mongodb://m' })).toThrow(
      new StartError(
        'MONGODB_URL set without KAFKA_BROKERS and SCHEMA_REGISTRY_URL: set all three addresses, or none',
      ),
    );
  });

  test('an address without an answer is refused in one line without the password in it', async () => {
    const [held] = await reservePorts(1);
    if (held === undefined) throw new Error('no port');
    const refused = await checkAddresses({
      MONGODB_URL: `mongodb://user:s3cret@127.0.0.1:${held.port}/?directConnection=true`,
      KAFKA_BROKERS: `127.0.0.1:${held.port}`,
      SCHEMA_REGISTRY_URL: `http://user:s3cret@127.0.0.1:${held.port}`,
    }).then(
      () => 'accepted',
      (error: unknown) =>
        error instanceof StartError ? messageOf(error) : `not a StartError: ${String(error)}`,
    );
    await held.release();
    expect(refused).toMatch(
      /^(MONGODB_URL|KAFKA_BROKERS|SCHEMA_REGISTRY_URL): no answer \(.*unset MONGODB_URL/,
    );
    expect(refused).not.toContain('s3cret');
  });

  test('a malformed broker address is named', async () => {
    await expect(checkAddresses({ ...all, KAFKA_BROKERS: 'nonsense' })).rejects.toThrow(
      'KAFKA_BROKERS: no answer (nonsense is no host:port)',
    );
  });
});
