import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { clientConfig } from './client.ts';
import { logLevel } from './kafkajs.ts';

const { createErrorFromCode } = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  readonly createErrorFromCode: (code: number) => Error & { readonly type: string };
};

/** The level at which we log an error that kafkajs reports. */
function levelOf(message: string, error: string): string | undefined {
  const levels: string[] = [];
  const { logCreator } = clientConfig({
    brokers: ['b:1'],
    clientId: 'test',
    log: (level) => void levels.push(level),
  });
  const log = { message, error, timestamp: '' };
  logCreator?.(logLevel.WARN)({ namespace: 'Connection', level: logLevel.ERROR, label: 'ERROR', log });
  return levels[0];
}

it.each([
  ['GROUP_LOAD_IN_PROGRESS', 14],
  ['GROUP_COORDINATOR_NOT_AVAILABLE', 15],
  ['NOT_COORDINATOR_FOR_GROUP', 16],
  ['ILLEGAL_GENERATION', 22],
  ['UNKNOWN_MEMBER_ID', 25],
  ['REBALANCE_IN_PROGRESS', 27],
  ['MEMBER_ID_REQUIRED', 79],
])('%s, which a change of the group brings, is no error', (type, code) => {
  const error = createErrorFromCode(code);
  expect(error.type).toBe(type);
  expect(levelOf('Response Heartbeat(key: 12, version: 4)', error.message)).toBe('info');
});

it.each([
  ['INCONSISTENT_GROUP_PROTOCOL', 23],
  ['GROUP_AUTHORIZATION_FAILED', 30],
  ['NOT_ENOUGH_REPLICAS', 19],
])('%s is one', (type, code) => {
  const error = createErrorFromCode(code);
  expect(error.type).toBe(type);
  expect(levelOf('Response SyncGroup(key: 14, version: 3)', error.message)).toBe('error');
});

it('what kafkajs says of itself as it joins again is no error', () => {
  expect(levelOf('The group is rebalancing, re-joining', 'undefined')).toBe('info');
  expect(levelOf('The coordinator is not aware of this member, re-joining the group', 'undefined')).toBe(
    'info',
  );
  expect(levelOf('Connection error: read ECONNRESET', 'undefined')).toBe('error');
});
