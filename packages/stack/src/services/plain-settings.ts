import type { Addresses } from '../infrastructure/environment.ts';

/** The settings of infrastructure without TLS and credentials, in the form that `prepareTopics` takes. */
export function plainSettings({ KAFKA_BROKERS, SCHEMA_REGISTRY_URL }: Addresses): {
  readonly KAFKA_BROKERS: string[];
  readonly SCHEMA_REGISTRY_URL: string;
} {
  return { KAFKA_BROKERS: KAFKA_BROKERS.split(','), SCHEMA_REGISTRY_URL };
}
