import {
  type DeclaredMessaging,
  type MessagingService,
  messagingServices,
  services,
} from '@pesewa/contracts';

interface Role {
  readonly name: string;
  readonly db: string;
}

/** A service writes to its own database and the one that is declared, reads the declared ones and a server setting. */
function rolesOf(name: MessagingService): readonly Role[] {
  const { database, alsoWrites, readsDatabases }: DeclaredMessaging = services[name].messaging;
  return [
    { name: 'readWrite', db: database },
    ...(alsoWrites ? [{ name: 'readWrite', db: alsoWrites }] : []),
    ...readsDatabases.map((db) => ({ name: 'read', db })),
    { name: 'startChecks', db: 'admin' },
  ];
}

/** A role in the database of each service. */
const everywhere = (name: string): readonly Role[] =>
  messagingServices.map((service) => ({ name, db: services[service].messaging.database }));

const user = (name: string, roles: readonly Role[]) => ({
  name,
  db: 'admin',
  passwordSecretRef: { name: `mongodb-password-${name}`, key: 'password' },
  scramCredentialsSecretName: `mongodb-${name}`,
  roles,
});

/** The users of MongoDB: each service, preparing (creates collections, reads no records), people (only read), backups. */
export const mongodbUsers = (): object => ({
  apiVersion: 'mongodbcommunity.mongodb.com/v1',
  kind: 'MongoDBCommunity',
  metadata: { name: 'pesewa-mongodb' },
  spec: {
    users: [
      ...messagingServices.map((name) => user(name, rolesOf(name))),
      user('prepare', [{ name: 'readWrite', db: 'directory' }, ...everywhere('dbAdmin')]),
      user('operators', [{ name: 'read', db: 'directory' }, ...everywhere('read')]),
      user('backup', [{ name: 'backup', db: 'admin' }]),
    ],
  },
});
