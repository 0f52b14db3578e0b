import { createHash, createSign, generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Cache,
  createSupervisor,
  ensureJava,
  ensureKafka,
  errorLine,
  type Java,
  kafkaSettings,
  openClassArchive,
  probeKafka,
  reservePorts,
  runTool,
  StartError,
  type Supervisor,
  startProbeTimeoutMs,
  waitForDaemon,
} from '@pesewa/infrastructure';
import { type Certificate, type CertificateAuthority, createCertificateAuthority } from './certificates.ts';

const audience = 'kafka';
const clusterId = 'c2VjdXJlZGthZmthMDAwMA';

/** A broker that refuses every client without TLS and credentials, for tests of authentication. */
export interface SecuredKafka extends AsyncDisposable {
  /** Accepts SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER over TLS, as `host:port`. */
  readonly saslBroker: string;
  /** Accepts client certificates, as `host:port`. */
  readonly mutualBroker: string;
  /** Accepts plaintext, which the broker uses for itself, as `host:port`. */
  readonly plaintextBroker: string;
  readonly authority: CertificateAuthority;
  /** Makes a token that the broker accepts for a number of seconds. */
  readonly issueToken: (lifetimeSeconds: number) => string;
}

/** A user that can log in by SCRAM. */
export interface ScramUser {
  readonly name: string;
  readonly password: string;
}

interface Ports {
  readonly plaintext: number;
  readonly sasl: number;
  readonly mutual: number;
  readonly controller: number;
}

function settingsOf(ports: Ports, directory: string, users: readonly ScramUser[]): Record<string, string> {
  const at = (name: string, port: number): string => `${name}://127.0.0.1:${port}`;
  const advertised = [
    at('PLAINTEXT', ports.plaintext),
    at('SASL', ports.sasl),
    at('MUTUAL', ports.mutual),
  ].join(',');
  const listener = 'listener.name.sasl';
  const common = 'org.apache.kafka.common.security';
  return {
    ...kafkaSettings({
      listeners: `${advertised},${at('CONTROLLER', ports.controller)}`,
      advertised,
      interBroker: 'PLAINTEXT',
      nodeId: 1,
      voters: [{ id: 1, controllerPort: ports.controller }],
    }),
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,MUTUAL:SSL',
    'log.dirs': join(directory, 'logs'),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': join(directory, 'broker.pem'),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': join(directory, 'authority.pem'),
    'listener.name.mutual.ssl.client.auth': 'required',
    [`${listener}.sasl.enabled.mechanisms`]: 'SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER',
    [`${listener}.scram-sha-256.sasl.jaas.config`]: `${common}.scram.ScramLoginModule required;`,
    [`${listener}.scram-sha-512.sasl.jaas.config`]: `${common}.scram.ScramLoginModule required;`,
    [`${listener}.plain.sasl.jaas.config`]: `${common}.plain.PlainLoginModule required ${users.map(({ name, password }) => `user_${name}="${password}"`).join(' ')};`,
    [`${listener}.oauthbearer.sasl.jaas.config`]: `${common}.oauthbearer.OAuthBearerLoginModule required;`,
    [`${listener}.oauthbearer.sasl.server.callback.handler.class`]: `${common}.oauthbearer.OAuthBearerValidatorCallbackHandler`,
    [`${listener}.oauthbearer.sasl.oauthbearer.jwks.endpoint.url`]: jwksUrl(directory),
    [`${listener}.oauthbearer.sasl.oauthbearer.expected.audience`]: audience,
    // An expired token ends its session; without this setting a connection would outlive its token.
    [`${listener}.oauthbearer.connections.max.reauth.ms`]: '3600000',
  };
}

const jwksUrl = (directory: string): string => `file://${join(directory, 'jwks.json')}`;

const propertiesText = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');

/** A key that signs tokens, and the key set by which the broker verifies them. */
function createTokenIssuer(): { readonly jwks: string; readonly issue: SecuredKafka['issueToken'] } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('hex').slice(0, 16);
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return {
    jwks: JSON.stringify({ keys: [{ ...jwk, kid, use: 'sig', alg: 'RS256' }] }),
    issue: (lifetimeSeconds) => {
      const nowSeconds = Math.floor(Date.now() / 1_000);
      const claims = {
        sub: 'pesewa',
        aud: audience,
        scope: 'events',
        iat: nowSeconds,
        exp: nowSeconds + lifetimeSeconds,
      };
      const unsigned = `${encode({ alg: 'RS256', kid })}.${encode(claims)}`;
      return `${unsigned}.${createSign('sha256').update(unsigned).sign(privateKey, 'base64url')}`;
    },
  };
}

async function format(
  cache: Cache,
  java: Java,
  where: { readonly installation: string; readonly properties: string; readonly users: readonly ScramUser[] },
): Promise<void> {
  const credentials = where.users.flatMap(({ name, password }) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
  const tool = [
    '-XX:TieredStopAtLevel=1',
    '-cp',
    join(where.installation, 'libs', '*'),
    'kafka.tools.StorageTool',
  ];
  const args = [...tool, 'format', '-t', clusterId, '-c', where.properties, ...credentials];
  const run = await runTool(cache.supervisor, { command: java.command, args, env: cache.env });
  if (run?.code === 0) return;
  throw new StartError(`the secured Kafka's storage could not be formatted: ${errorLine(run?.lines ?? [])}`);
}

async function start(
  supervisor: Supervisor,
  options: { readonly root: string; readonly env: NodeJS.ProcessEnv; readonly users: readonly ScramUser[] },
): Promise<Omit<SecuredKafka, typeof Symbol.asyncDispose>> {
  const { env } = options;
  const cache: Cache = {
    directory: join(options.root, '.pesewa', 'cache'),
    log: () => undefined,
    env,
    supervisor,
  };
  const java = await ensureJava(cache);
  const withJava = java.home === undefined ? cache : { ...cache, env: { ...env, JAVA_HOME: java.home } };
  const installation = await ensureKafka(withJava, java);
  const temporary = join(options.root, '.pesewa', 'temporary');
  await mkdir(temporary, { recursive: true });
  const directory = await mkdtemp(join(temporary, `run-${process.pid}-secured-`));
  supervisor.removeOnClose(directory);
  const held = await reservePorts(4);
  const [plaintext = 0, sasl = 0, mutual = 0, controller = 0] = held.map(({ port }) => port);
  const authority = createCertificateAuthority('Pesewa test authority');
  const tokens = createTokenIssuer();
  const properties = join(directory, 'server.properties');
  await Promise.all([
    writeFile(
      properties,
      propertiesText(settingsOf({ plaintext, sasl, mutual, controller }, directory, options.users)),
    ),
    writeFile(join(directory, 'broker.pem'), pemOf(authority.issue('broker', ['127.0.0.1']))),
    writeFile(join(directory, 'authority.pem'), authority.certificate),
    writeFile(join(directory, 'jwks.json'), tokens.jwks),
  ]);
  await format(withJava, java, { installation, properties, users: options.users });
  await Promise.all(held.map((port) => port.release()));
  const archive = await openClassArchive(installation, java);
  const logFile = join(directory, 'kafka.log');
  const jvm = ['-Xms128m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const child = await supervisor.spawnChild({
    name: 'the secured Kafka',
    command: java.command,
    args: [
      ...jvm,
      ...(archive.recording ? [] : archive.args),
      `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${jwksUrl(directory)}`,
      '-cp',
      join(installation, 'libs', '*'),
      'kafka.Kafka',
      properties,
    ],
    logFile,
    stopSignal: 'SIGKILL',
  });
  const plaintextBroker = `127.0.0.1:${plaintext}`;
  await waitForDaemon(child, logFile, async () => {
    if ((await probeKafka(plaintextBroker, startProbeTimeoutMs)).length < 1)
      throw new Error('it has not joined its cluster yet');
  });
  return {
    saslBroker: `127.0.0.1:${sasl}`,
    mutualBroker: `127.0.0.1:${mutual}`,
    plaintextBroker,
    authority,
    issueToken: tokens.issue,
  };
}

const pemOf = ({ certificate, key }: Certificate): string => key + certificate;

/** Starts a broker of one node from the cached jars; rejects with a one-line StartError if it can't. */
export async function openSecuredKafka(options: {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly users: readonly ScramUser[];
}): Promise<SecuredKafka> {
  const supervisor = createSupervisor();
  try {
    return { ...(await start(supervisor, options)), [Symbol.asyncDispose]: () => supervisor.close() };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}
