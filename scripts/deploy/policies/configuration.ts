import { secretName } from './environment.ts';
import {
  at,
  containersOf,
  type Fields,
  listAt,
  named,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  textAt,
  titleOf,
} from './rendered.ts';
import { configurationOf } from './services.ts';

const container = (objects: readonly Rendered[], name: string): Fields =>
  listAt(named(objects, 'Deployment', name), 'spec.template.spec.containers')[0] ?? {};

/** The Secrets that a Pod mounts, each with the files it expects in it. */
const mounted = (
  spec: Fields,
): readonly {
  readonly secret: string;
  readonly keys: readonly string[] | undefined;
  readonly mode: unknown;
}[] =>
  listAt(spec, 'volumes').flatMap((volume) => [
    ...('secret' in volume
      ? [
          {
            secret: textAt(volume, 'secret.secretName'),
            keys: undefined,
            mode: at(volume, 'secret.defaultMode'),
          },
        ]
      : []),
    ...listAt(volume, 'projected.sources').flatMap((source) => {
      const items = at(source, 'secret.items');
      const keys = Array.isArray(items) ? items.map((item: Fields) => textAt(item, 'key')) : undefined;
      return 'secret' in source
        ? [{ secret: textAt(source, 'secret.name'), keys, mode: at(volume, 'projected.defaultMode') }]
        : [];
    }),
  ]);

/** The files that a Pod has of its secrets. */
const filesOf = (objects: readonly Rendered[], spec: Fields): readonly string[] =>
  listAt(spec, 'volumes').flatMap((volume) =>
    listAt(volume, 'projected.sources').flatMap((source) => {
      const items = listAt(source, 'secret.items');
      if (items.length > 0) return items.map((item) => textAt(item, 'path'));
      return Object.keys(
        at(named(objects, 'ExternalSecret', textAt(source, 'secret.name')), 'spec.target.template.data') ??
          {},
      );
    }),
  );

/** Who creates which Secrets, with which keys. */
const made = (objects: readonly Rendered[]): ReadonlyMap<string, readonly string[]> =>
  new Map<string, readonly string[]>([
    ...ofKind(objects, 'ExternalSecret').map(
      (one) =>
        [textAt(one, 'spec.target.name'), Object.keys(at(one, 'spec.target.template.data') ?? {})] as const,
    ),
    ...ofKind(objects, 'KafkaUser').map((one) => [`kafka-user-${one.metadata.name}`, ['password']] as const),
    ...ofKind(objects, 'Kafka').map((one) => [`${one.metadata.name}-cluster-ca-cert`, ['ca.crt']] as const),
    ...ofKind(objects, 'Certificate').map(
      (one) => [textAt(one, 'spec.secretName'), ['ca.crt', 'tls.crt', 'tls.key']] as const,
    ),
  ]);

/** The Secrets that objects other than Pods refer to. */
const referred = (
  objects: readonly Rendered[],
): readonly { readonly secret: string; readonly keys: readonly string[] }[] => [
  ...ofKind(objects, 'MongoDBCommunity').flatMap((one) => [
    ...listAt(one, 'spec.users').map((user) => ({
      secret: textAt(user, 'passwordSecretRef.name'),
      keys: [textAt(user, 'passwordSecretRef.key')],
    })),
    { secret: textAt(one, 'spec.security.tls.certificateKeySecretRef.name'), keys: ['tls.crt', 'tls.key'] },
    { secret: textAt(one, 'spec.security.tls.caCertificateSecretRef.name'), keys: ['ca.crt'] },
  ]),
  ...ofKind(objects, 'TriggerAuthentication').flatMap((one) =>
    listAt(one, 'spec.secretTargetRef').map((target) => ({
      secret: textAt(target, 'name'),
      keys: [textAt(target, 'key')],
    })),
  ),
];

/** Rules about configuration and secrets. */
export const configurationRules: readonly Rule[] = [
  {
    name: 'configuration is immutable, named by what is in it, and there',
    check: ({ objects }) =>
      podsOf(objects).flatMap(({ owner, spec }) =>
        containersOf({ spec })
          .flatMap((one) => listAt(one, 'envFrom'))
          .map((source) => textAt(source, 'configMapRef.name'))
          .filter((name) => {
            const map = named(objects, 'ConfigMap', name);
            return at(map, 'immutable') !== true || !/-[bcdfghkmt2456789]{10}$/.test(name);
          })
          .map((name) => `${titleOf(owner)}: ${name}`),
      ),
    violations: [
      (objects) => {
        for (const map of ofKind(objects, 'ConfigMap')) delete map['immutable'];
      },
      (objects) => (container(objects, 'ledger')['envFrom'] = [{ configMapRef: { name: 'ledger-config' } }]),
    ],
  },
  {
    name: 'no secret is in what is applied, nor in a variable',
    check: ({ objects }) => [
      ...ofKind(objects, 'Secret').map(titleOf),
      ...podsOf(objects).flatMap(({ owner, spec }) =>
        containersOf({ spec }).flatMap((one) => {
          const variables = [
            ...Object.keys(configurationOf(objects, one)),
            ...listAt(one, 'env').map((entry) => textAt(entry, 'name')),
          ];
          // Of the database restored for the test, in the same Pod.
          const bad =
            owner.metadata.name === 'mongodb-restore-test'
              ? []
              : variables.filter((name) => secretName.test(name));
          const refers = listAt(one, 'env').some(
            (entry) => at(entry, 'valueFrom.secretKeyRef') !== undefined,
          );
          return [...bad, ...(refers ? ['a variable of a Secret'] : [])].map(
            (what) => `${titleOf(owner)}: ${what}`,
          );
        }),
      ),
    ],
    violations: [
      (objects) =>
        void objects.push({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x', namespace: 'pesewa' } }),
      (objects) => (container(objects, 'ledger')['env'] = [{ name: 'KAFKA_SASL_PASSWORD', value: 'x' }]),
      (objects) =>
        (container(objects, 'ledger')['env'] = [
          { name: 'X', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } },
        ]),
    ],
  },
  {
    name: 'secrets are files that the group of the Pod alone reads, and each file that is named is there',
    check: ({ objects }) =>
      podsOf(objects).flatMap(({ owner, spec }) => [
        ...mounted(spec)
          .filter(({ mode }) => mode !== 0o440)
          .map(({ secret }) => `${titleOf(owner)}: mode of ${secret}`),
        ...containersOf({ spec }).flatMap((one) =>
          Object.entries(configurationOf(objects, one))
            .filter(([name, file]) => {
              if (!name.endsWith('_FILE') || !file.startsWith('/etc/')) return false;
              return !filesOf(objects, spec).includes(file.replace(/^\/etc\/pesewa\//, ''));
            })
            .map(([name]) => `${titleOf(owner)}: ${name} is not mounted`),
        ),
      ]),
    violations: [
      (objects) => ((at(podsOf(objects)[0], 'spec.volumes.0.projected') as Fields)['defaultMode'] = 0o444),
      (objects) =>
        void (
          listAt(
            named(objects, 'Deployment', 'ledger'),
            'spec.template.spec.volumes.0.projected.sources',
          ) as Fields[]
        ).shift(),
    ],
  },
  {
    name: 'every Secret that is used is made by somebody, with what is wanted of it',
    check: ({ objects }) => {
      const all = made(objects);
      const lacks = ({
        secret,
        keys,
      }: {
        readonly secret: string;
        readonly keys: readonly string[] | undefined;
      }) => {
        const has = all.get(secret);
        return !has || (keys ?? []).some((key) => !has.includes(key));
      };
      return [
        ...podsOf(objects).flatMap(({ owner, spec }) =>
          mounted(spec)
            .filter(lacks)
            .map(({ secret }) => `${titleOf(owner)}: ${secret}`),
        ),
        ...referred(objects)
          .filter(lacks)
          .map(({ secret }) => secret),
      ];
    },
    violations: [
      (objects) =>
        void objects.splice(
          objects.findIndex(
            (one) => one.kind === 'ExternalSecret' && one.metadata.name === 'ledger-settings',
          ),
          1,
        ),
      (objects) =>
        void objects.splice(
          objects.findIndex(
            (one) => one.kind === 'ExternalSecret' && one.metadata.name === 'mongodb-password-ledger',
          ),
          1,
        ),
    ],
  },
  {
    name: 'secrets come from the store again and again, by the API that is served',
    check: ({ objects }) =>
      ofKind(objects, 'ExternalSecret')
        .filter(
          (one) =>
            one.apiVersion !== 'external-secrets.io/v1' ||
            textAt(one, 'spec.refreshPolicy') !== 'Periodic' ||
            !/^[1-9]/.test(textAt(one, 'spec.refreshInterval')) ||
            textAt(one, 'spec.secretStoreRef.kind') !== 'ClusterSecretStore',
        )
        .map(titleOf),
    violations: [
      (objects) => ((at(ofKind(objects, 'ExternalSecret')[0], 'spec') as Fields)['refreshInterval'] = '0'),
      (objects) => {
        const [first] = ofKind(objects, 'ExternalSecret') as unknown as Fields[];
        if (first) first['apiVersion'] = 'external-secrets.io/v1beta1';
      },
    ],
  },
];
