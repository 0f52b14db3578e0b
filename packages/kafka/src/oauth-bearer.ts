import {
  type AuthenticationProviderArgs,
  type Authenticator,
  KafkaJSConnectionError,
  KafkaJSNonRetriableError,
} from './kafkajs.ts';
import type { TokenSource } from './token-command.ts';

/** Separates the parts of the message (RFC 7628). */
const SEPARATOR = '\u0001';
const SIZE_BYTES = 4;
const STATUS_LENGTH_MAX = 200;

/**
 * Authenticates with a token (RFC 7628). kafkajs's own implementation reads no answer and takes a refused token for a
 * success; the broker then closes the connection without a message. If no token can be had, it is retried like a
 * connection.
 */
export function createOauthBearer(
  tokens: TokenSource,
): (connection: AuthenticationProviderArgs) => Authenticator {
  return ({ saslAuthenticate }) => ({
    authenticate: async () => {
      const token = await tokens.token().catch((error: unknown) => {
        throw new KafkaJSConnectionError(error instanceof Error ? error.message : 'no token');
      });
      const message = Buffer.from(`n,,${SEPARATOR}auth=Bearer ${token}${SEPARATOR}${SEPARATOR}`);
      const refusal = await saslAuthenticate({
        request: { encode: () => withSize(message) },
        response: { decode: (bytes) => bytes.subarray(SIZE_BYTES), parse: String },
      });
      if (!refusal) return;
      tokens.forget();
      const status = refusal.slice(0, STATUS_LENGTH_MAX);
      throw new KafkaJSNonRetriableError(`SASL OAUTHBEARER authentication failed: ${status}`);
    },
  });
}

/** Bytes as kafkajs passes them on, with their length in front. */
function withSize(bytes: Buffer): Buffer {
  const sized = Buffer.allocUnsafe(SIZE_BYTES + bytes.length);
  sized.writeInt32BE(bytes.length);
  bytes.copy(sized, SIZE_BYTES);
  return sized;
}
