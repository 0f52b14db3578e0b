import {
  type DeclaredMessaging,
  type MessagingService,
  messagingServices,
  services,
} from '@pesewa/contracts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  remove,
  specOf,
  textAt,
} from './rendered.ts';

const mongodb = (objects: readonly Rendered[]): Fields => specOf(ofKind(objects, 'MongoDBCommunity')[0]);

const userOf = (objects: readonly Rendered[], name: string): Fields | undefined =>
  listAt(mongodb(objects), 'users').find((user) => user['name'] === name);

const rolesOf = (name: MessagingService): readonly string[] => {
  const { database, alsoWrites, readsDatabases }: DeclaredMessaging = services[name].messaging;
  return [
    `readWrite ${database}`,
    ...(alsoWrites ? [`readWrite ${alsoWrites}`] : []),
    ...readsDatabases.map((one) => `read ${one}`),
    'startChecks admin',
  ].toSorted();
};

/** Rules about MongoDB, and about what its operator and Kafka's run for us. */
export const mongodbRules: readonly Rule[] = [
  {
    name: 'MongoDB has three members with data, TLS, and ends transactions within ten seconds',
    check: ({ objects }) => {
      const spec_ = mongodb(objects);
      const config = at(spec_, 'additionalMongodConfig') as Fields | undefined;
      const isGood =
        spec_['members'] === 3 &&
        spec_['arbiters'] === undefined &&
        at(spec_, 'security.tls.enabled') === true &&
        at(spec_, 'security.tls.optional') === undefined &&
        Number(config?.['setParameter.transactionLifetimeLimitSeconds']) <= 10 &&
        listAt(spec_, 'statefulSet.spec.volumeClaimTemplates').length === 2 &&
        ofKind(objects, 'PodDisruptionBudget').some((one) =>
          isSame(at(one, 'spec.selector.matchLabels'), { app: 'pesewa-mongodb-svc' }),
        );
      return isGood ? [] : ['MongoDBCommunity'];
    },
    violations: [
      (objects) => (mongodb(objects)['members'] = 2),
      (objects) => ((at(mongodb(objects), 'security.tls') as Fields)['enabled'] = false),
      (objects) => void delete mongodb(objects)['additionalMongodConfig'],
      (objects) => remove(objects, 'PodDisruptionBudget', 'pesewa-mongodb'),
    ],
  },
  {
    name: 'a service writes in its own database and the declared one, and reads those that it is declared to read',
    check: ({ objects }) =>
      messagingServices.filter((name) => {
        const roles = listAt(userOf(objects, name), 'roles').map(
          (role) => `${textAt(role, 'name')} ${textAt(role, 'db')}`,
        );
        return !isSame(roles.toSorted(), rolesOf(name));
      }),
    violations: [
      (objects) =>
        ((userOf(objects, 'webhook-ingress') as Fields)['roles'] = [{ name: 'root', db: 'admin' }]),
      (objects) => void (listAt(userOf(objects, 'ledger'), 'roles') as Fields[]).pop(),
    ],
  },
  {
    name: 'only the backup has a right over all databases, and people write in none',
    check: ({ objects }) =>
      listAt(mongodb(objects), 'users')
        .filter((user) => {
          const roles = listAt(user, 'roles').map((role) => `${textAt(role, 'name')} ${textAt(role, 'db')}`);
          const name = textAt(user, 'name');
          const wide = roles.filter((role) =>
            /admin$|Any|root|cluster/.test(role.replace('startChecks admin', '')),
          );
          const written = roles.filter((role) => role.startsWith('readWrite '));
          return (
            !isSame(wide, name === 'backup' ? ['backup admin'] : []) ||
            (name === 'operators' && written.length > 0)
          );
        })
        .map((user) => textAt(user, 'name')),
    violations: [
      (objects) =>
        ((userOf(objects, 'ledger') as Fields)['roles'] = [{ name: 'readWriteAnyDatabase', db: 'admin' }]),
      (objects) =>
        ((userOf(objects, 'operators') as Fields)['roles'] = [{ name: 'readWrite', db: 'directory' }]),
    ],
  },
  {
    name: 'what prepares may make collections in each database, and read the records of none but the directory',
    check: ({ objects }) => {
      const roles = listAt(userOf(objects, 'prepare'), 'roles').map(
        (role) => `${textAt(role, 'name')} ${textAt(role, 'db')}`,
      );
      const wanted = [
        'readWrite directory',
        ...messagingServices.map((name) => `dbAdmin ${services[name].messaging.database}`),
      ];
      const jobs = messagingServices.filter((name) => {
        const [container] = listAt(named(objects, 'Job', `prepare-${name}`), 'spec.template.spec.containers');
        return !listAt(container, 'env').some(
          (one) => one['name'] === 'MONGODB_URL_FILE' && one['value'] === '/etc/pesewa/PREPARE_MONGODB_URL',
        );
      });
      return [...jobs, ...(isSame(roles.toSorted(), wanted.toSorted()) ? [] : ['prepare'])];
    },
    violations: [
      (objects) => ((userOf(objects, 'prepare') as Fields)['roles'] = [{ name: 'root', db: 'admin' }]),
      (objects) => {
        const [container = {}] = listAt(
          named(objects, 'Job', 'prepare-ledger'),
          'spec.template.spec.containers',
        );
        container['env'] = [];
      },
    ],
  },
  {
    name: 'what operators run for us is restricted as well',
    check: ({ objects }) => {
      const kafka = named(objects, 'Kafka', 'pesewa');
      const pools = ofKind(objects, 'KafkaNodePool').map((pool) => at(pool, 'spec.template'));
      const entity = at(kafka, 'spec.entityOperator.template');
      const members = at(mongodb(objects), 'statefulSet.spec.template.spec');
      const securities = [
        ...pools.flatMap((template) => [
          at(template, 'kafkaContainer.securityContext'),
          at(template, 'initContainer.securityContext'),
        ]),
        at(entity, 'topicOperatorContainer.securityContext'),
        at(entity, 'userOperatorContainer.securityContext'),
        ...[...listAt(members, 'containers'), ...listAt(members, 'initContainers')].map(
          (one) => one['securityContext'],
        ),
      ];
      const ofPods = [...pools.map((template) => at(template, 'pod')), at(entity, 'pod'), members];
      const isGood =
        securities.length === 10 &&
        securities.every(
          (one) =>
            at(one, 'allowPrivilegeEscalation') === false &&
            at(one, 'runAsNonRoot') === true &&
            isSame(at(one, 'capabilities'), { drop: ['ALL'] }),
        ) &&
        ofPods.every(
          (one) =>
            at(one, 'securityContext.runAsNonRoot') === true &&
            textAt(one, 'securityContext.seccompProfile.type') === 'RuntimeDefault',
        );
      return isGood ? [] : ['Kafka or MongoDB'];
    },
    violations: [
      (objects) =>
        void delete (at(named(objects, 'KafkaNodePool', 'broker'), 'spec.template') as Fields)[
          'initContainer'
        ],
      (objects) =>
        void delete (at(mongodb(objects), 'statefulSet.spec.template.spec') as Fields)['securityContext'],
    ],
  },
  {
    name: 'databases are backed up, and the newest backup is restored and audited',
    check: ({ objects }) => {
      const run = (name: string) => podsOf(objects).find(({ owner }) => owner.metadata.name === name)?.spec;
      const commands = (name: string) =>
        [...listAt(run(name), 'initContainers'), ...listAt(run(name), 'containers')]
          .flatMap((one) => one['command'] as string[])
          .join(' ');
      return [
        ...(/mongodump .*--oplog/.test(commands('mongodb-backup')) ? [] : ['nothing is backed up']),
        ...(/mongorestore .*--oplogReplay.*ledger verify/s.test(commands('mongodb-restore-test'))
          ? []
          : ['nothing is restored']),
      ];
    },
    violations: [
      (objects) => remove(objects, 'CronJob', 'mongodb-backup'),
      (objects) => remove(objects, 'CronJob', 'mongodb-restore-test'),
    ],
  },
];
