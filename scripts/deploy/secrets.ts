import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { MONGODB_CA_FILE, mongodb, mongodbHosts, SECRETS_DIRECTORY, site } from './site.ts';

/** A value of a Secret: read unchanged, or built from others by a template of the External Secrets operator. */
interface Entry {
  /** Its name in the Secret. */
  readonly key: string;
  /** Its place in the store. */
  readonly from: { readonly folder: string; readonly property: string };
  /** A template for it; without one it is used unchanged. */
  readonly template?: string;
}

const storeKey = (folder: string): string => `${site.secretFolder}/${folder}`;

/** An ExternalSecret that is refreshed every hour, so that a changed secret arrives; Pods read it when they start. */
export function externalSecret(
  name: string,
  of: string,
  entries: readonly Entry[],
  fixed: Readonly<Record<string, string>> = {},
): Manifest {
  // Names in Go's templates can't have a hyphen.
  const variable = (key: string): string => key.replaceAll(/\W/g, '_');
  return manifest(
    'external-secrets.io/v1',
    'ExternalSecret',
    name,
    { component: 'platform', of },
    {
      spec: {
        refreshPolicy: 'Periodic',
        refreshInterval: '1h0m0s',
        secretStoreRef: { kind: 'ClusterSecretStore', name: site.secretStore },
        target: {
          name,
          creationPolicy: 'Owner',
          deletionPolicy: 'Retain',
          template: {
            type: 'Opaque',
            engineVersion: 'v2',
            mergePolicy: 'Replace',
            data: {
              ...Object.fromEntries(
                entries.map(({ key, template }) => [key, template ?? `{{ .${variable(key)} }}`]),
              ),
              ...fixed,
            },
          },
        },
        data: entries.map(({ key, from: { folder, property } }) => ({
          secretKey: variable(key),
          remoteRef: { key: storeKey(folder), property },
        })),
      },
    },
  );
}

const MONGODB_OPTIONS = [
  `replicaSet=${mongodb.replicaSet}`,
  'authSource=admin',
  'tls=true',
  `tlsCAFile=${SECRETS_DIRECTORY}/${MONGODB_CA_FILE}`,
].join('&');

/** The connection string of a user. The operator inserts the password, so that it is stored in one place. */
export const mongodbUrl = (user: string, variable: string): string => {
  const hosts = mongodbHosts(NAMESPACE).map((host) => `${host}:${mongodb.port}`);
  return `mongodb://${user}:{{ .${variable} | urlquery }}@${hosts.join(',')}/?${MONGODB_OPTIONS}`;
};

const MONGODB_PASSWORD = 'mongodb-password';

/** Secrets that are stored once for all services, such as the rails. */
const shared: Readonly<Record<string, string>> = {
  RAILS: 'rails',
  OPERATORS: 'operators',
  SCHEMA_REGISTRY_TLS_CA: 'schema-registry',
};

/** The settings of a service that are secret. */
export function settingsSecret(
  name: string,
  settings: readonly string[],
  fixed: Readonly<Record<string, string>> = {},
): Manifest {
  const entries = settings
    .filter((setting) => fixed[setting] === undefined)
    .map((setting): Entry => {
      if (setting === 'MONGODB_URL') {
        const from = { folder: name, property: MONGODB_PASSWORD };
        return { key: setting, from, template: mongodbUrl(name, setting) };
      }
      const property = setting.toLowerCase().replaceAll('_', '-');
      return { key: setting, from: { folder: shared[setting] ?? name, property } };
    });
  return externalSecret(`${name}-settings`, name, entries, fixed);
}

/** The password of a MongoDB user, as the operator of MongoDB reads it. */
export const mongodbPassword = (user: string): Manifest =>
  externalSecret(`mongodb-password-${user}`, user, [
    { key: 'password', from: { folder: user, property: MONGODB_PASSWORD } },
  ]);
