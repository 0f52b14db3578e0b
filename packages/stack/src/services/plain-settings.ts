import type { Addresses } from '../infrastructure/environment.ts';

/** The settings of infrastructure that knows neither TLS nor credentials, as `prepareTopics` takes them. */
export function plainSettings({ KAFKA_BROKERS, SCHEMA_REGISTRY_URL }: Addresses): {
  readonly KAFKA_BROKERS: string[];
  readonly SCHEMA_REGISTRY_URL: string;
} {
  return { KAFKA_BROKERS: KAFKA_BROKERS.split(','), SCHEMA_REGISTRY_URL };
}
