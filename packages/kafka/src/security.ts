import type { Clock } from '@pesewa/kernel';
import type { KafkaConfig } from './kafkajs.ts';
import { createOauthBearer } from './oauth-bearer.ts';
import { createTokenSource } from './token-command.ts';

/** Kafka's address and our credentials; a check at the start has made sure that the settings fit together. */
export interface KafkaSettings {
  readonly KAFKA_BROKERS: readonly string[];
  readonly KAFKA_TLS?: 'on' | 'off';
  readonly KAFKA_TLS_CA?: string | undefined;
  readonly KAFKA_TLS_CERTIFICATE?: string | undefined;
  readonly KAFKA_TLS_KEY?: string | undefined;
  readonly KAFKA_SASL_MECHANISM?: 'scram-sha-256' | 'scram-sha-512' | 'plain' | 'oauthbearer' | undefined;
  readonly KAFKA_SASL_USERNAME?: string | undefined;
  readonly KAFKA_SASL_PASSWORD?: string | undefined;
  readonly KAFKA_SASL_TOKEN_COMMAND?: string | undefined;
}

/** The options of a connection, as kafkajs takes them. */
export type KafkaConnection = Pick<KafkaConfig, 'ssl' | 'sasl'> & { readonly brokers: readonly string[] };

/** The Kafka connection that these settings describe; if tokens are used, each connection gets its own. */
export function kafkaConnection(settings: KafkaSettings, clock: Pick<Clock, 'nowMs'>): KafkaConnection {
  const ssl = tlsOf(settings);
  const sasl = saslOf(settings, clock);
  return { brokers: settings.KAFKA_BROKERS, ...(ssl && { ssl }), ...(sasl && { sasl }) };
}

/** Certificates are always verified: there is no setting to turn that off. */
function tlsOf(settings: KafkaSettings): KafkaConfig['ssl'] {
  if (settings.KAFKA_TLS !== 'on') return undefined;
  const { KAFKA_TLS_CA: ca, KAFKA_TLS_CERTIFICATE: cert, KAFKA_TLS_KEY: key } = settings;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}

function saslOf(settings: KafkaSettings, clock: Pick<Clock, 'nowMs'>): KafkaConfig['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username = '' } = settings;
  if (mechanism === undefined) return undefined;
  const { KAFKA_SASL_PASSWORD: password = '' } = settings;
  if (mechanism === 'scram-sha-256') return { mechanism, username, password };
  if (mechanism === 'plain') return { mechanism, username, password };
  if (mechanism === 'scram-sha-512') return { mechanism, username, password };
  const tokens = createTokenSource({ command: settings.KAFKA_SASL_TOKEN_COMMAND ?? '', clock });
  return { mechanism, authenticationProvider: createOauthBearer(tokens) };
}

/** Errors and warnings of a Kafka client that are about access, and what to do about each. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [
    /verify the first certificate|self-signed certificate|unable to get (?:local )?issuer/i,
    "the brokers' certificate is signed by an authority that is not trusted here: check KAFKA_TLS_CA",
  ],
  [
    /does not match certificate's altnames/i,
    "the brokers' certificate is for other names: check KAFKA_BROKERS",
  ],
  [/certificate has expired/i, "the brokers' certificate has expired: have it renewed"],
  [
    /alert (?:bad certificate|certificate (?:unknown|required|expired)|unknown ca|handshake failure)/i,
    'the brokers want another certificate of ours: check KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY',
  ],
  [
    /wrong version number|before secure TLS connection was established/i,
    'the brokers speak no TLS at this address: check KAFKA_BROKERS and KAFKA_TLS',
  ],
  [/SASL SCRAM .*failed/i, 'the brokers refuse us: check KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD'],
  [/SASL OAUTHBEARER .*failed/i, 'the brokers refuse the token of KAFKA_SASL_TOKEN_COMMAND'],
  [
    /mechanism is not supported|not valid given the current SASL state/i,
    'the brokers take no such credentials at this address: check KAFKA_BROKERS and KAFKA_SASL_MECHANISM',
  ],
  [/KAFKA_SASL_TOKEN_COMMAND/, 'there is no token: see the message'],
];

/** How a broker behaves that expects TLS or credentials and gets none; a broker that shuts down does the same. */
const CLOSED = /closed connection|ECONNRESET|socket hang up/i;

/** What to do about an error or a warning; undefined if it is not about access. */
export function kafkaRemedy(message: string, connection: KafkaConnection): string | undefined {
  const known = refusals.find(([pattern]) => pattern.test(message));
  if (known) return known[1];
  if (!CLOSED.test(message) || (connection.ssl && connection.sasl)) return undefined;
  if (connection.ssl)
    return 'the brokers close the connection: they may want credentials (KAFKA_SASL_MECHANISM)';
  return 'the brokers close the connection: they may want TLS (KAFKA_TLS) or credentials (KAFKA_SASL_MECHANISM)';
}
