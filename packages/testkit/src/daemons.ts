import { join } from 'node:path';
import { type Cluster, openCluster } from '@pesewa/infrastructure';
import { openSecuredKafka, type SecuredKafka } from './secured-kafka.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** A broker, a database and a registry for one test, which may stop the broker and the database. */
export function openBreakableDaemons(): Promise<Cluster> {
  return openCluster({ root, log: () => undefined, copies: 1 });
}

/** A broker with TLS and with credentials of one test file's own; these users log in by SCRAM. */
export function openTestSecuredKafka(
  users: Parameters<typeof openSecuredKafka>[0]['users'],
): Promise<SecuredKafka> {
  return openSecuredKafka({ root, env: process.env, users });
}
