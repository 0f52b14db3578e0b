import { Agent } from 'node:https';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';

/** Where the schema registry is, and how we prove to it who we are. */
export interface RegistrySettings {
  readonly SCHEMA_REGISTRY_URL: string;
  readonly SCHEMA_REGISTRY_USERNAME?: string | undefined;
  readonly SCHEMA_REGISTRY_PASSWORD?: string | undefined;
  readonly SCHEMA_REGISTRY_TLS_CA?: string | undefined;
}

/** The way to a schema registry. */
export interface RegistryConnection {
  readonly registryUrl: string;
  readonly registryAuth?: { readonly username: string; readonly password: string };
  /** The authorities that are trusted (PEM); those that Node trusts, without. */
  readonly registryCa?: string;
}

/** The way to the schema registry that the settings tell. */
export function registryConnection(settings: RegistrySettings): RegistryConnection {
  const { SCHEMA_REGISTRY_USERNAME: username, SCHEMA_REGISTRY_PASSWORD: password } = settings;
  const { SCHEMA_REGISTRY_TLS_CA: registryCa } = settings;
  return {
    registryUrl: settings.SCHEMA_REGISTRY_URL,
    ...(username !== undefined && password !== undefined && { registryAuth: { username, password } }),
    ...(registryCa !== undefined && { registryCa }),
  };
}

/** A client of the schema registry. */
export function openRegistry({ registryUrl, registryAuth, registryCa }: RegistryConnection): SchemaRegistry {
  return new SchemaRegistry({
    host: registryUrl,
    retry: { retries: 5 },
    ...(registryAuth && { auth: registryAuth }),
    ...(registryCa !== undefined && { agent: new Agent({ ca: registryCa }) }),
  });
}

/** The answer of a registry, with what to do where it is about access; for use as `.catch(explainRefusal)`. */
export function explainRefusal(error: unknown): never {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 401 || status === 403) {
    throw new Error(
      `the schema registry refuses us (${status}): check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD`,
      { cause: error },
    );
  }
  if (error instanceof Error && /certificate|issuer/i.test(error.message)) {
    throw new Error(`the schema registry's certificate is not trusted: check SCHEMA_REGISTRY_TLS_CA`, {
      cause: error,
    });
  }
  throw error;
}
