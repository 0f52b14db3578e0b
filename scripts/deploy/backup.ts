import { nodeOptions } from './model.ts';
import { mongodbUsers } from './mongodb.ts';
import { labelsOf, type Manifest, manifest } from './objects.ts';
import { containerSecurity, podSecurity, resourcesOf } from './pods.ts';
import { externalSecret, mongodbUrl } from './secrets.ts';
import { MONGODB_CA_FILE, mongodb, SECRETS_DIRECTORY, site } from './site.ts';
import { imageOf, priorities, serviceAccount } from './workloads.ts';

const NAME = 'mongodb-backup';
const TEST = 'mongodb-restore-test';
const part = { component: 'maintenance', of: NAME } as const;
/** The user of the image with the tools. */
const TOOLS_USER = 999;
const BACKUPS = '/backups';
const CONFIG_FILE = 'mongodump.yaml';
const KEEP_DAYS = 14;
const size = { cpu: '500m', memoryMi: 1_024, ephemeralMi: 512 } as const;

/** Written under another name first, so that an interrupted backup is not mistaken for one. */
const dump = `
file="${BACKUPS}/$(date -u +%Y%m%dT%H%M%SZ).archive.gz"
mongodump --config="${SECRETS_DIRECTORY}/${CONFIG_FILE}" --oplog --gzip --archive="$file.partial"
mv "$file.partial" "$file"
find ${BACKUPS} -name '*.archive.gz*' -mtime +${KEEP_DAYS} -delete
`.trim();

/**
 * Restores the newest backup into an empty MongoDB beside it, up to the moment at which the backup ended. It restores
 * everything: if `mongorestore` replays the writes made during a backup, it can't leave databases out.
 */
const restore = `
mongosh --quiet --eval 'rs.initiate({ _id: "restore", members: [{ _id: 0, host: "127.0.0.1:27017" }] })'
until mongosh --quiet --eval 'db.hello().isWritablePrimary' | grep -q true; do sleep 1; done
newest="$(ls -1 ${BACKUPS}/*.archive.gz | tail -n 1)"
echo "restoring $newest"
mongorestore --oplogReplay --gzip --archive="$newest"
`.trim();

const shell = (script: string) => ['bash', '-euo', 'pipefail', '-c', script];

const podOf = (account: string) => ({
  serviceAccountName: account,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  priorityClassName: priorities.support,
  restartPolicy: 'Never',
  securityContext: podSecurity(TOOLS_USER),
});

const backups = (readOnly: boolean) => ({ name: 'backups', mountPath: BACKUPS, readOnly });
const tmp = { name: 'tmp', mountPath: '/tmp' };
const volumes = [
  { name: 'backups', persistentVolumeClaim: { claimName: NAME } },
  { name: 'tmp', emptyDir: { sizeLimit: '256Mi' } },
];

const cronJob = (
  name: string,
  schedule: string,
  account: string,
  pod: Readonly<Record<string, unknown>>,
): Manifest =>
  manifest(
    'batch/v1',
    'CronJob',
    name,
    { ...part, of: name },
    {
      spec: {
        schedule,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
        startingDeadlineSeconds: 3_600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        jobTemplate: {
          spec: {
            backoffLimit: 1,
            activeDeadlineSeconds: 14_400,
            // A weekend; a copy that was restored has its volume until then, and the next one asks for its own within a week.
            ttlSecondsAfterFinished: 259_200,
            template: {
              metadata: { labels: labelsOf(name, part.component) },
              spec: { ...podOf(account), ...pod },
            },
          },
        },
      },
    },
  );

const tools = (name: string, command: readonly string[], mounts: readonly object[]) => ({
  name,
  image: site.mongodbToolsImage,
  command,
  // mongosh keeps its settings at home.
  env: [{ name: 'HOME', value: '/tmp' }],
  resources: resourcesOf(size),
  securityContext: containerSecurity,
  volumeMounts: [tmp, ...mounts],
});

/** A consistent copy of all databases every night. */
const backup = (): Manifest =>
  cronJob(NAME, '15 1 * * *', NAME, {
    containers: [
      tools('mongodump', shell(dump), [
        backups(false),
        { name: 'secrets', mountPath: SECRETS_DIRECTORY, readOnly: true },
      ]),
    ],
    volumes: [
      ...volumes,
      {
        name: 'secrets',
        projected: {
          defaultMode: 0o440,
          sources: [
            { secret: { name: NAME } },
            { secret: { name: mongodb.tlsSecret, items: [{ key: 'ca.crt', path: MONGODB_CA_FILE }] } },
          ],
        },
      },
    ],
  });

/** Restores the newest backup into a MongoDB of its own every week, and audits the books in it. */
const restoreTest = (): Manifest =>
  cronJob(TEST, '30 4 * * 0', TEST, {
    initContainers: [
      {
        ...tools(
          'mongod',
          ['mongod', '--dbpath', '/data/db', '--bind_ip', '127.0.0.1', '--replSet', 'restore'],
          [{ name: 'data', mountPath: '/data/db' }],
        ),
        // Runs beside the containers that follow, and ends with them.
        restartPolicy: 'Always',
        startupProbe: {
          exec: { command: ['mongosh', '--quiet', '--eval', 'db.hello()'] },
          timeoutSeconds: 10,
          periodSeconds: 5,
          failureThreshold: 24,
        },
      },
      tools('mongorestore', shell(restore), [backups(true)]),
    ],
    containers: [
      {
        name: 'verify',
        image: imageOf('pesewa'),
        // Payments of other databases are not compared: events on their way at that moment never arrive here.
        command: ['node', 'src/main.ts', 'ledger', 'verify', '--all', '--books-only'],
        env: [
          { name: 'NODE_OPTIONS', value: nodeOptions(size) },
          { name: 'MONGODB_URL', value: 'mongodb://127.0.0.1:27017/?directConnection=true' },
          { name: 'ALLOW_INSECURE', value: 'mongodb' },
        ],
        resources: resourcesOf(size),
        securityContext: { ...containerSecurity, runAsUser: podSecurity().runAsUser },
        volumeMounts: [tmp],
      },
    ],
    volumes: [
      ...volumes,
      {
        name: 'data',
        ephemeral: {
          volumeClaimTemplate: {
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: site.storageClass,
              resources: { requests: { storage: '200Gi' } },
            },
          },
        },
      },
    ],
  });

/** The backups, their storage, and the proof that they can be restored. */
export const backupManifests = (): readonly Manifest[] => [
  serviceAccount(NAME),
  serviceAccount(TEST),
  manifest(
    'v1',
    'PersistentVolumeClaim',
    NAME,
    { ...part, component: 'platform' },
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: site.storageClass,
        resources: { requests: { storage: '500Gi' } },
      },
    },
  ),
  backup(),
  restoreTest(),
];

/** The connection of the backup, in the form that mongodump reads. */
export const backupSecret = (): Manifest =>
  externalSecret(NAME, NAME, [
    {
      key: CONFIG_FILE,
      from: { folder: mongodbUsers.backup, property: 'mongodb-password' },
      template: `uri: "${mongodbUrl(mongodbUsers.backup, 'mongodump_yaml')}"`,
    },
  ]);

/** Some objects only know the backup by its Pod's label. */
export const backupName = NAME;
