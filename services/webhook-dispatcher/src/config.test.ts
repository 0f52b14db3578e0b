import { parseConfig } from '@pesewa/runtime';
import { expect, test } from 'vitest';
import { settings } from './config.ts';
import { retryDelaysMs } from './domain/delivery.ts';

const required = {
  MONGODB_URL: 'mongodb://db.example.com/?replicaSet=rs0',
  KAFKA_BROKERS: 'kafka.example.com:9092',
  SCHEMA_REGISTRY_URL: 'http://registry.example.com/apis/ccompat/v7',
  OPERATOR_TOKEN: 'a-token-of-operators',
};

test('nothing is allowed by default, and the schedule is that of three days', () => {
  const config = parseConfig(settings, required);
  expect(config.WEBHOOK_ALLOWED_ORIGINS).toEqual([]);
  expect(config.RETRY_DELAYS_MS).toEqual(retryDelaysMs);
});

test('origins and delays are lists', () => {
  const config = parseConfig(settings, {
    ...required,
    NODE_ENV: 'development',
    WEBHOOK_ALLOWED_ORIGINS: 'http://127.0.0.1:4070, https://hooks.example.com',
    RETRY_DELAYS_MS: '100,200',
  });
  expect(config.WEBHOOK_ALLOWED_ORIGINS).toEqual(['http://127.0.0.1:4070', 'https://hooks.example.com']);
  expect(config.RETRY_DELAYS_MS).toEqual([100, 200]);
});

test.each(['http://127.0.0.1:4070/path', '127.0.0.1:4070', 'https://hooks.example.com:443'])(
  '%s is no exact origin',
  (origin) => {
    expect(() => parseConfig(settings, { ...required, WEBHOOK_ALLOWED_ORIGINS: origin })).toThrow(
      /exact origins/,
    );
  },
);

test('production, which is what no NODE_ENV means, refuses allowed origins', () => {
  const unsafe = { ...required, WEBHOOK_ALLOWED_ORIGINS: 'http://127.0.0.1:4070' };
  expect(() => parseConfig(settings, unsafe)).toThrow(/WEBHOOK_ALLOWED_ORIGINS/);
  expect(() => parseConfig(settings, { ...unsafe, NODE_ENV: 'production' })).toThrow(
    /WEBHOOK_ALLOWED_ORIGINS/,
  );
  expect(() => parseConfig(settings, required)).not.toThrow();
});

test('an endpoint is warned of before it is disabled', () => {
  const day = 86_400_000;
  expect(parseConfig(settings, required)).toMatchObject({
    ENDPOINT_WARN_AFTER_MS: day,
    ENDPOINT_DISABLE_AFTER_MS: 5 * day,
  });
  const hasty = { ...required, ENDPOINT_DISABLE_AFTER_MS: String(day) };
  expect(() => parseConfig(settings, hasty)).toThrow(/longer than ENDPOINT_WARN_AFTER_MS/);
});
