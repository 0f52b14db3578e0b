import { type MessagingService, services, topics } from '@pesewa/contracts';
import { kafkaUsers, scaledByLag } from './kafka.ts';
import { deployed } from './model.ts';
import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { kafka } from './site.ts';

const API = 'keda.sh/v1alpha1';
const AUTHENTICATION = 'kafka';
const IDENTITY = 'keda-kafka';

/** How the autoscaler authenticates to Kafka; a user's name is no secret. */
const authentication = (): readonly Manifest[] => [
  manifest(
    'v1',
    'ConfigMap',
    IDENTITY,
    { component: 'platform', of: 'keda' },
    {
      immutable: true,
      data: { username: kafkaUsers.keda },
    },
  ),
  manifest(
    API,
    'TriggerAuthentication',
    AUTHENTICATION,
    { component: 'platform', of: 'keda' },
    {
      spec: {
        configMapTargetRef: [{ parameter: 'username', name: IDENTITY, key: 'username' }],
        secretTargetRef: [
          { parameter: 'password', name: `${kafka.userSecretPrefix}${kafkaUsers.keda}`, key: 'password' },
          { parameter: 'ca', name: kafka.caSecret, key: 'ca.crt' },
        ],
      },
    },
  ),
];

/** Scales a consumer by how far it lags on each of its topics; each step down is a rebalance, so they are few. */
function scaledObject(name: MessagingService): Manifest {
  const { min, max, lagThreshold = 1_000 } = deployed[name].scale;
  return manifest(
    API,
    'ScaledObject',
    name,
    { component: 'service' },
    {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicaCount: min,
        maxReplicaCount: max,
        pollingInterval: 30,
        // While Kafka does not answer, replicas are neither added nor removed.
        fallback: { failureThreshold: 3, replicas: min, behavior: 'currentReplicasIfHigher' },
        advanced: {
          horizontalPodAutoscalerConfig: {
            behavior: {
              scaleUp: {
                stabilizationWindowSeconds: 60,
                selectPolicy: 'Max',
                policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
              },
              scaleDown: {
                stabilizationWindowSeconds: 900,
                selectPolicy: 'Min',
                policies: [{ type: 'Pods', value: 1, periodSeconds: 300 }],
              },
            },
          },
        },
        triggers: services[name].messaging.consumes.map((topic) => ({
          type: 'kafka',
          name: topic.toLowerCase(),
          metadata: {
            bootstrapServers: `${kafka.bootstrap}.${NAMESPACE}.svc.cluster.local:${kafka.port}`,
            consumerGroup: name,
            topic: topics[topic].name,
            lagThreshold: String(lagThreshold),
            offsetResetPolicy: 'earliest',
            // A stopped partition keeps its lag, however many replicas there are.
            excludePersistentLag: 'true',
            allowIdleConsumers: 'false',
            tls: 'enable',
            sasl: 'scram_sha512',
          },
          authenticationRef: { name: AUTHENTICATION },
        })),
      },
    },
  );
}

/** Everything that is scaled by lag. */
export const keda = (): readonly Manifest[] => [...authentication(), ...scaledByLag().map(scaledObject)];
