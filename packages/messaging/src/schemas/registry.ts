import { Agent } from 'node:https';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';

/** The address of the schema registry and our credentials for it. */
export interface RegistrySettings {
  readonly SCHEMA_REGISTRY_URL: string;
  readonly SCHEMA_REGISTRY_USERNAME?: string | undefined;
  readonly SCHEMA_REGISTRY_PASSWORD?: string | undefined;
  readonly SCHEMA_REGISTRY_TLS_CA?: string | undefined;
}

/** A connection to a schema registry. */
export interface RegistryConnection {
  readonly registryUrl: string;
  readonly registryAuth?: { readonly username: string; readonly password: string };
  /** The certificate authorities to trust (PEM); without it, those that Node trusts. */
  readonly registryCa?: string;
}

/** The registry connection that these settings describe. */
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

/** Rethrows a registry's refusal, with what to do if it is about access; for use as `.catch(explainRefusal)`. */
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
