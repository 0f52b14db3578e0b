import { join } from 'node:path';
import { openSecuredKafka, type SecuredKafka } from '@pesewa/infrastructure';

const root = join(import.meta.dirname, '..', '..', '..');

/** A broker with TLS and with credentials of one test file's own; these users log in by SCRAM. */
export function openTestSecuredKafka(
  users: Parameters<typeof openSecuredKafka>[0]['users'],
): Promise<SecuredKafka> {
  return openSecuredKafka({ root, env: process.env, users });
}
