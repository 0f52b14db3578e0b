import { type Environment, environmentFile } from './environment.ts';
import { operatorApis, type Size } from './model.ts';
import { mongodbUsers } from './mongodb.ts';
import { labelsOf, type Manifest, manifest } from './objects.ts';
import { podTemplate } from './pods.ts';
import { externalSecret, mongodbUrl } from './secrets.ts';
import { imageOf, priorities, rollOut, serviceAccount } from './workloads.ts';

const NAME = 'operator-tools';
const component = 'maintenance';

/** An audit of the books needs more memory than preparing. */
export const operatorToolsSize: Size = { cpu: '250m', memoryMi: 1_024, ephemeralMi: 256 };

/** The labels of the command line's Pod. */
export const operatorLabels = labelsOf(NAME, component);

/** Waits for `kubectl exec`; a container's first process ignores signals unless it handles them. */
const waiting = [
  "process.once('SIGTERM', () => process.exit());",
  'setInterval(() => {}, 2_147_483_647);',
  "console.log('kubectl exec runs the command line here: node src/main.ts --help');",
].join(' ');

const environment: Environment = {
  values: Object.entries(operatorApis()).map(([name, value]) => ({
    name,
    value,
    meaning: `The operations API of ${new URL(value).hostname}.`,
  })),
  files: { stored: ['MONGODB_URL'], fromKafka: [] },
};

/** The addresses of the services and of MongoDB for the command line. */
export const operatorToolsEnvironment = { name: NAME, text: environmentFile(environment) };

/** Where people run the command line: without a Pod until somebody starts one. */
export const operatorTools = (): readonly Manifest[] => [
  serviceAccount(NAME),
  manifest(
    'apps/v1',
    'Deployment',
    NAME,
    { component },
    {
      spec: {
        // Without the field there would be one replica, at first and whenever no other manager owns the field.
        replicas: 0,
        selector: { matchLabels: operatorLabels },
        ...rollOut,
        template: podTemplate({
          name: NAME,
          component,
          image: imageOf('pesewa'),
          command: ['node', '--eval', waiting],
          size: operatorToolsSize,
          secrets: { stored: true, mongodb: true },
          priority: priorities.support,
        }),
      },
    },
  ),
];

/** Its address of MongoDB, with the user of people. */
export const operatorToolsSecret = (): Manifest =>
  externalSecret(`${NAME}-settings`, NAME, [
    {
      key: 'MONGODB_URL',
      from: { folder: mongodbUsers.operators, property: 'mongodb-password' },
      template: mongodbUrl(mongodbUsers.operators, 'MONGODB_URL'),
    },
  ]);
