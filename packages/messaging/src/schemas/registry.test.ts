import { createServer } from 'node:https';
import { createCertificateAuthority } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerSchemas } from './codec.ts';
import { type RegistrySettings, registryConnection } from './registry.ts';

const password = 'canary-of-a-password';
const authority = createCertificateAuthority('test authority');
const { certificate: cert, key } = authority.issue('registry', ['127.0.0.1']);

/** A registry with one user, which gives the id 7 to every schema. */
const server = createServer({ cert, key }, (request, response) => {
  const login = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString();
  response.setHeader('content-type', 'application/json');
  response.statusCode = login === `hub:${password}` ? 200 : 401;
  response.end(JSON.stringify({ id: 7, compatibilityLevel: 'FULL_TRANSITIVE', message: 'Unauthorized' }));
});

let settings: RegistrySettings;

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  settings = {
    SCHEMA_REGISTRY_URL: `https://127.0.0.1:${address.port}`,
    SCHEMA_REGISTRY_USERNAME: 'hub',
    SCHEMA_REGISTRY_PASSWORD: password,
    SCHEMA_REGISTRY_TLS_CA: authority.certificate,
  };
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const register = (overrides: Partial<RegistrySettings> = {}) =>
  registerSchemas({
    ...registryConnection({ ...settings, ...overrides }),
    topicPrefix: '',
  });

it('is asked over TLS, with credentials', async () => {
  expect(await register()).toBeGreaterThan(0);
});

it('refuses a wrong password and a missing one, and quotes neither', async () => {
  const wrong = register({ SCHEMA_REGISTRY_PASSWORD: 'canary-of-another' });
  await expect(wrong).rejects.toThrow(/refuses us \(401\): check SCHEMA_REGISTRY_USERNAME/);
  await expect(wrong).rejects.not.toThrow(/canary/);
  const anonymous = register({ SCHEMA_REGISTRY_USERNAME: undefined, SCHEMA_REGISTRY_PASSWORD: undefined });
  await expect(anonymous).rejects.toThrow(/refuses us \(401\)/);
});

it('is not believed where another authority signs for it', async () => {
  const other = createCertificateAuthority('another authority').certificate;
  await expect(register({ SCHEMA_REGISTRY_TLS_CA: other })).rejects.toThrow(/check SCHEMA_REGISTRY_TLS_CA/);
  await expect(register({ SCHEMA_REGISTRY_TLS_CA: undefined })).rejects.toThrow(
    /check SCHEMA_REGISTRY_TLS_CA/,
  );
});
