import { upstreamRail } from '@pesewa/rails';
import { parseConfig } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import { settings } from './config.ts';

const required = {
  MONGODB_URL: 'mongodb://127.0.0.1:27017',
  KAFKA_BROKERS: '127.0.0.1:9092',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081',
  OPERATOR_TOKEN: 'a-token-of-sufficient-length-for-the-operator',
  RAILS: JSON.stringify([
    upstreamRail({
      name: 'upstream',
      url: 'https://rail.example.com',
      publicKey: 'pk_of_the_hub_at_the_rail',
    }),
  ]),
};

it('lets webhooks go to no internal address by default', () => {
  expect(parseConfig(settings, required).WEBHOOK_ALLOWED_ORIGINS).toEqual([]);
});

it('takes exact origins, as webhook-dispatcher does, and none in production', () => {
  const listed = {
    ...required,
    NODE_ENV: 'development',
    WEBHOOK_ALLOWED_ORIGINS: 'http://127.0.0.1:4070, http://127.0.0.1:4071',
  };
  expect(parseConfig(settings, listed).WEBHOOK_ALLOWED_ORIGINS).toEqual([
    'http://127.0.0.1:4070',
    'http://127.0.0.1:4071',
  ]);
  expect(() => parseConfig(settings, { ...listed, NODE_ENV: 'production' })).toThrow(
    /WEBHOOK_ALLOWED_ORIGINS/,
  );
  expect(() => parseConfig(settings, { ...listed, WEBHOOK_ALLOWED_ORIGINS: 'http://a.example/x' })).toThrow(
    /must be exact origins/,
  );
});
