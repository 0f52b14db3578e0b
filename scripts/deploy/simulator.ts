import { simulatorRail } from '@pesewa/stack';
import { serviceOf, smallSize } from './model.ts';
import { simulatorPolicies } from './network-policies.ts';
import { type Manifest, manifest, selectorOf } from './objects.ts';
import { podTemplate } from './pods.ts';
import { settingsSecret } from './secrets.ts';
import {
  imageOf,
  nodeCommand,
  priorities,
  serviceAccount,
  serviceContainer,
  serviceManifest,
  storedSecrets,
} from './workloads.ts';

const NAME = 'provider-simulator';

/** How services reach the simulator as their only rail, in place of the rails in the store of secrets. */
export const simulatorRails = (publicKey: string): string => {
  const url = `http://${NAME}:${serviceOf(NAME).port}`;
  return JSON.stringify([simulatorRail({ url, publicKey })]);
};

/** Only one process may write the journal: a StatefulSet starts no second one before the first has ended. */
const statefulSet = (): Manifest =>
  manifest(
    'apps/v1',
    'StatefulSet',
    NAME,
    { component: 'service' },
    {
      spec: {
        replicas: 1,
        serviceName: NAME,
        minReadySeconds: 10,
        revisionHistoryLimit: 5,
        updateStrategy: { type: 'RollingUpdate' },
        selector: { matchLabels: selectorOf(NAME) },
        template: podTemplate({
          name: NAME,
          component: 'service',
          image: imageOf(NAME),
          command: nodeCommand,
          size: smallSize,
          secrets: storedSecrets,
          priority: priorities.support,
          container: serviceContainer(NAME),
          mounts: [{ name: 'journal', mountPath: '/data' }],
        }),
        volumeClaimTemplates: [
          {
            metadata: { name: 'journal' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
  );

/** The simulator with everything that it needs, for a cluster of developers. */
export const simulator = (secrets: readonly string[]): readonly Manifest[] => [
  serviceAccount(NAME),
  serviceManifest(NAME),
  statefulSet(),
  settingsSecret(NAME, secrets),
  ...simulatorPolicies(),
];
