import { createPrivateKey, X509Certificate } from 'node:crypto';
import { z } from 'zod';

/**
 * What may be insecure if `ALLOW_INSECURE` names it: connections without TLS or credentials, callbacks without proof of
 * their sender.
 */
const systems = ['kafka', 'registry', 'mongodb', 'callbacks'] as const;

type System = (typeof systems)[number];

const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const understands = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

const certificatesSetting = z.string().refine((pem) => understands(() => new X509Certificate(pem)), {
  error: 'must be certificates in PEM',
});

const privateKeySetting = z.string().refine((pem) => understands(() => createPrivateKey(pem)), {
  error: 'must be a private key in PEM, without a passphrase',
});

/**
 * Checks the form of a connection string before the driver does: the driver's errors quote what they can't read, and a
 * password with an unescaped `@`, `/` or `?` would be misread and quoted.
 */
const MONGODB_URL = ((): RegExp => {
  const credentials = String.raw`[^:@/?#]*(?::[^@/?#]*)?@`;
  const host = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[\w.%-]+)(?::\d{1,5})?`;
  const option = String.raw`[A-Za-z]+=[^&@?#]*`;
  return new RegExp(
    String.raw`^mongodb(?:\+srv)?://(?:${credentials})?${host}(?:,${host})*(?:/[^@/?#]*)?(?:\?(?:${option}(?:&${option})*)?)?$`,
  );
})();

/** The environment that the process runs in; production unless the variable says otherwise. */
export const environmentSetting = z
  .enum(['development', 'test', 'production'])
  .default('production')
  .describe('`production` refuses unsafe switches and insecure connections');

/** Marks settings that hold a secret (`meta`): they should be given as files, never as plain configuration. */
export const secret = { isSecret: true } as const;

/** The addresses of MongoDB, Kafka and the schema registry, and our credentials for them (docs/connections.md). */
export const connectionSettings = z.object({
  MONGODB_URL: z
    .string()
    .regex(MONGODB_URL, {
      error:
        'must be mongodb://… or mongodb+srv://…, what is special in names and passwords as %40 and the like',
    })
    .describe('connection string of the MongoDB replica set, with TLS and credentials')
    .meta(secret),
  KAFKA_BROKERS: z
    .string()
    .transform((list) => list.split(',').map((broker) => broker.trim()))
    .describe('host:port list, separated by commas'),
  KAFKA_TLS: z.enum(['on', 'off']).default('off').describe('whether Kafka is reached over TLS'),
  KAFKA_TLS_CA: certificatesSetting
    .optional()
    .describe("authorities that sign the brokers' certificates (PEM); by default those that Node trusts"),
  KAFKA_TLS_CERTIFICATE: certificatesSetting
    .optional()
    .describe('our own certificate (PEM), if brokers ask for one'),
  KAFKA_TLS_KEY: privateKeySetting
    .optional()
    .describe('the private key of our certificate (PEM)')
    .meta(secret),
  KAFKA_SASL_MECHANISM: z
    .enum(['scram-sha-256', 'scram-sha-512', 'plain', 'oauthbearer'])
    .optional()
    .describe('`scram-sha-256`, `scram-sha-512`, `plain` or `oauthbearer`'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('the user of SCRAM or `plain`'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('the password of SCRAM or `plain`').meta(secret),
  KAFKA_SASL_TOKEN_COMMAND: z
    .string()
    .optional()
    .describe('program that prints the token of `oauthbearer`, with arguments separated by spaces; no shell'),
  SCHEMA_REGISTRY_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .describe('base address of the Confluent-compatible schema registry API'),
  SCHEMA_REGISTRY_USERNAME: z.string().optional().describe('the user at the schema registry'),
  SCHEMA_REGISTRY_PASSWORD: z
    .string()
    .optional()
    .describe('the password at the schema registry')
    .meta(secret),
  SCHEMA_REGISTRY_TLS_CA: certificatesSetting
    .optional()
    .describe("authorities that sign the registry's certificate (PEM); by default those that Node trusts"),
  ALLOW_INSECURE: z
    .string()
    .transform(listOf)
    .pipe(z.array(z.enum(systems)))
    .default([])
    .describe(
      'what production may reach without TLS or credentials, separated by commas: `kafka`, `registry`, `mongodb`; `callbacks` lets webhook-ingress accept callbacks without authentication',
    ),
});

/** The connections of one process, as {@link connectionSettings} reads them. */
export type ConnectionSettings = z.output<typeof connectionSettings>;

/** Settings to check; a system that is not used has no address. */
export type UncheckedSettings = Partial<ConnectionSettings> & { readonly NODE_ENV: string };

/** A setting that can't stay as it is; the message says what to do and quotes no value. */
export interface SettingProblem {
  readonly variable: string;
  readonly message: string;
}

/**
 * Checks settings of connections: finds those that contradict each other, would send a secret in clear, or are insecure
 * in production.
 */
export function connectionProblems(settings: UncheckedSettings): readonly SettingProblem[] {
  return [
    ...(settings.KAFKA_BROKERS === undefined ? [] : kafkaProblems(settings)),
    ...(settings.SCHEMA_REGISTRY_URL === undefined
      ? []
      : registryProblems(settings, settings.SCHEMA_REGISTRY_URL)),
    ...(settings.MONGODB_URL === undefined ? [] : mongodbProblems(settings, settings.MONGODB_URL)),
  ];
}

type Variable = keyof ConnectionSettings;

/** A list of this problem if the condition holds, else an empty one. */
const when = (isProblem: boolean, variable: Variable, message: string): readonly SettingProblem[] =>
  isProblem ? [{ variable, message }] : [];

const isAllowed = ({ ALLOW_INSECURE = [] }: UncheckedSettings, system: System): boolean =>
  ALLOW_INSECURE.includes(system);

const mustBeSecure = (settings: UncheckedSettings, system: System): boolean =>
  settings.NODE_ENV === 'production' && !isAllowed(settings, system);

const orAllow = (system: System): string => `or put ${system} into ALLOW_INSECURE`;

function kafkaProblems(settings: UncheckedSettings): readonly SettingProblem[] {
  const { KAFKA_SASL_MECHANISM: mechanism } = settings;
  const isTls = settings.KAFKA_TLS === 'on';
  const isSecure = mustBeSecure(settings, 'kafka');
  const hasPassword = mechanism !== undefined && mechanism !== 'oauthbearer';
  const ofTls = ['KAFKA_TLS_CA', 'KAFKA_TLS_CERTIFICATE', 'KAFKA_TLS_KEY'] as const;
  const ofPassword = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;
  return [
    ...when(isSecure && !isTls, 'KAFKA_TLS', `production needs TLS: set it to on, ${orAllow('kafka')}`),
    ...when(
      isSecure && mechanism === undefined && settings.KAFKA_TLS_CERTIFICATE === undefined,
      'KAFKA_SASL_MECHANISM',
      `production needs credentials: set it, or KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY, ${orAllow('kafka')}`,
    ),
    ...ofTls.flatMap((variable) =>
      when(
        !isTls && settings[variable] !== undefined,
        variable,
        'needs KAFKA_TLS=on: set that, or unset this',
      ),
    ),
    ...pairProblems(settings, 'KAFKA_TLS_CERTIFICATE', 'KAFKA_TLS_KEY'),
    ...when(
      !isMatching(settings),
      'KAFKA_TLS_KEY',
      'is not the key of KAFKA_TLS_CERTIFICATE: set both from the same source',
    ),
    ...ofPassword.flatMap((variable) => [
      ...when(hasPassword && settings[variable] === undefined, variable, `is needed by ${mechanism}: set it`),
      ...when(
        !hasPassword && settings[variable] !== undefined,
        variable,
        'needs KAFKA_SASL_MECHANISM to be scram-sha-512, scram-sha-256 or plain: set that, or unset this',
      ),
    ]),
    ...tokenProblems(settings, isTls),
  ];
}

function tokenProblems(settings: UncheckedSettings, isTls: boolean): readonly SettingProblem[] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_TOKEN_COMMAND: command } = settings;
  const isToken = mechanism === 'oauthbearer';
  const isInClear = !isTls && (isToken || mechanism === 'plain');
  return [
    ...when(isToken && command === undefined, 'KAFKA_SASL_TOKEN_COMMAND', 'is needed by oauthbearer: set it'),
    ...when(
      !isToken && command !== undefined,
      'KAFKA_SASL_TOKEN_COMMAND',
      'needs KAFKA_SASL_MECHANISM=oauthbearer: set that, or unset this',
    ),
    ...when(
      isInClear && !isAllowed(settings, 'kafka') && settings.NODE_ENV !== 'production',
      'KAFKA_SASL_MECHANISM',
      `${mechanism} without TLS sends the secret in clear: set KAFKA_TLS=on, ${orAllow('kafka')}`,
    ),
  ];
}

function registryProblems(settings: UncheckedSettings, address: string): readonly SettingProblem[] {
  const url = new URL(address);
  const isTls = url.protocol === 'https:';
  const isSecure = mustBeSecure(settings, 'registry');
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: password } = settings;
  return [
    ...when(
      url.username !== '' || url.password !== '',
      'SCHEMA_REGISTRY_URL',
      'must hold no credentials: move them to SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
    ),
    ...when(
      isSecure && !isTls,
      'SCHEMA_REGISTRY_URL',
      `production needs https://: change it, ${orAllow('registry')}`,
    ),
    ...when(
      isSecure && username === undefined && password === undefined,
      'SCHEMA_REGISTRY_USERNAME',
      `production needs credentials: set it and SCHEMA_REGISTRY_PASSWORD, ${orAllow('registry')}`,
    ),
    ...pairProblems(settings, 'SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD'),
    ...when(
      !isTls && settings.SCHEMA_REGISTRY_TLS_CA !== undefined,
      'SCHEMA_REGISTRY_TLS_CA',
      'needs an https:// SCHEMA_REGISTRY_URL: change that, or unset this',
    ),
    ...when(
      !isTls && !isSecure && password !== undefined && !isAllowed(settings, 'registry'),
      'SCHEMA_REGISTRY_PASSWORD',
      `would be sent in clear: make SCHEMA_REGISTRY_URL https://, ${orAllow('registry')}`,
    ),
  ];
}

/** Options of a connection string that turn off the verification of the server's certificate. */
const unchecked = ['tlsinsecure', 'tlsallowinvalidcertificates', 'tlsallowinvalidhostnames'];

/** Mechanisms whose credentials are not in the connection string's user and password. */
const withoutPassword = ['MONGODB-X509', 'MONGODB-AWS', 'MONGODB-OIDC'];

function mongodbProblems(settings: UncheckedSettings, url: string): readonly SettingProblem[] {
  if (!mustBeSecure(settings, 'mongodb')) return [];
  const [address = '', query = ''] = url.split('?');
  const options = [...new URLSearchParams(query)].map(([name, value]) => ({
    name: name.toLowerCase(),
    value,
  }));
  const tls = options.filter(({ name }) => name === 'tls' || name === 'ssl');
  const isTls =
    tls.length === 0 ? address.startsWith('mongodb+srv://') : tls.every(({ value }) => value === 'true');
  const hasCredentials =
    address.includes('@') ||
    options.some(
      ({ name, value }) => name === 'authmechanism' && withoutPassword.includes(value.toUpperCase()),
    );
  return [
    ...when(!isTls, 'MONGODB_URL', `production needs TLS: put tls=true into it, ${orAllow('mongodb')}`),
    ...when(
      isTls && options.some(({ name, value }) => unchecked.includes(name) && value === 'true'),
      'MONGODB_URL',
      `production needs TLS that checks certificates: name the authority by tlsCAFile instead, ${orAllow('mongodb')}`,
    ),
    ...when(
      !hasCredentials,
      'MONGODB_URL',
      `production needs credentials: put user:password@ into it, ${orAllow('mongodb')}`,
    ),
  ];
}

/** Two settings that only make sense together. */
function pairProblems(
  settings: UncheckedSettings,
  first: Variable,
  second: Variable,
): readonly SettingProblem[] {
  const hasFirst = settings[first] !== undefined;
  const hasSecond = settings[second] !== undefined;
  return [
    ...when(hasSecond && !hasFirst, first, `is needed beside ${second}: set it, or unset that`),
    ...when(hasFirst && !hasSecond, second, `is needed beside ${first}: set it, or unset that`),
  ];
}

function isMatching({ KAFKA_TLS_CERTIFICATE: certificate, KAFKA_TLS_KEY: key }: UncheckedSettings): boolean {
  if (certificate === undefined || key === undefined) return true;
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
}
