import { describe, expect, test } from 'vitest';
import { StartError } from './errors.ts';
import { type Choice, chooseProvider } from './resolve.ts';

const addresses = { MONGODB_URL: 'mongodb://m', KAFKA_BROKERS: 'k:9092', SCHEMA_REGISTRY_URL: 'http://r' };

function choose(env: NodeJS.ProcessEnv, docker: boolean, wanted?: Choice['wanted']): Promise<string> {
  return chooseProvider({ wanted, env, dockerAnswers: () => Promise.resolve(docker) });
}

describe('choice of the provider', () => {
  test('addresses come before Docker', async () => {
    expect(await choose(addresses, true)).toBe('environment');
  });

  test('Docker comes before local daemons', async () => {
    expect(await choose({}, true)).toBe('docker');
    expect(await choose({}, false)).toBe('local');
  });

  test('PESEWA_INFRASTRUCTURE=local passes over Docker without asking it', async () => {
    const chosen = chooseProvider({
      wanted: undefined,
      env: { PESEWA_INFRASTRUCTURE: 'local' },
      dockerAnswers: () => Promise.reject(new Error('asked')),
    });
    expect(await chosen).toBe('local');
  });

  test('PESEWA_INFRASTRUCTURE=docker insists on it', async () => {
    expect(await choose({ PESEWA_INFRASTRUCTURE: 'docker' }, true)).toBe('docker');
    await expect(choose({ PESEWA_INFRASTRUCTURE: 'docker' }, false)).rejects.toThrow(StartError);
  });

  test('another value is refused with what it may be', async () => {
    await expect(choose({ PESEWA_INFRASTRUCTURE: 'podman' }, true)).rejects.toThrow(
      /set it to local or docker/,
    );
  });

  test('a caller that names a provider gets it', async () => {
    expect(await choose(addresses, true, 'local')).toBe('local');
  });
});
