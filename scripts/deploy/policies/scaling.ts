import { type MessagingService, messagingServices, services, topics } from '@pesewa/contracts';
import { deployedServices } from '../model.ts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  numberAt,
  ofKind,
  type Rendered,
  type Rule,
  remove,
  servicesOf,
  specOf,
  textAt,
  titleOf,
} from './rendered.ts';

function isScaledByLag(objects: readonly Rendered[], name: MessagingService): boolean {
  const scaled = named(objects, 'ScaledObject', name);
  const { consumes } = services[name].messaging;
  const partitions = Math.min(...consumes.map((topic) => topics[topic].partitions));
  const triggers = listAt(scaled, 'spec.triggers');
  const down = at(scaled, 'spec.advanced.horizontalPodAutoscalerConfig.behavior.scaleDown');
  return (
    textAt(scaled, 'spec.scaleTargetRef.name') === name &&
    numberAt(scaled, 'spec.minReplicaCount') >= 2 &&
    numberAt(scaled, 'spec.maxReplicaCount') <= partitions &&
    numberAt(down, 'stabilizationWindowSeconds') >= 300 &&
    isSame(
      triggers.map((trigger) => textAt(trigger, 'metadata.topic')).toSorted(),
      consumes.map((topic) => topics[topic].name).toSorted(),
    ) &&
    triggers.every(
      (trigger) =>
        textAt(trigger, 'metadata.consumerGroup') === name &&
        textAt(trigger, 'metadata.excludePersistentLag') === 'true' &&
        textAt(trigger, 'metadata.offsetResetPolicy') === 'earliest' &&
        textAt(trigger, 'metadata.tls') === 'enable' &&
        named(objects, 'TriggerAuthentication', textAt(trigger, 'authenticationRef.name')) !== undefined,
    )
  );
}

/** Rules about the number of replicas. */
export const scalingRules: readonly Rule[] = [
  {
    name: 'what serves requests scales by CPU, never to fewer than two, and down slowly',
    check: ({ objects }) =>
      deployedServices
        .filter((name) => services[name].isPublic)
        .filter((name) => {
          const scaler = named(objects, 'HorizontalPodAutoscaler', name);
          const metrics = listAt(scaler, 'spec.metrics').map((metric) => textAt(metric, 'resource.name'));
          return !(
            numberAt(scaler, 'spec.minReplicas') >= 2 &&
            isSame(metrics, ['cpu']) &&
            textAt(scaler, 'spec.scaleTargetRef.name') === name &&
            numberAt(scaler, 'spec.behavior.scaleDown.stabilizationWindowSeconds') >= 300
          );
        }),
    violations: [
      (objects) => (specOf(named(objects, 'HorizontalPodAutoscaler', 'payout-gateway'))['minReplicas'] = 1),
      (objects) =>
        (specOf(named(objects, 'HorizontalPodAutoscaler', 'payout-gateway'))['metrics'] = [
          { type: 'Resource', resource: { name: 'memory' } },
        ]),
      (objects) => remove(objects, 'HorizontalPodAutoscaler', 'webhook-ingress'),
    ],
  },
  {
    name: 'consumers scale by lag, between two and their partitions, and down slowly',
    check: ({ objects }) =>
      messagingServices
        .filter((name) => !services[name].isPublic)
        .filter((name) => !isScaledByLag(objects, name)),
    violations: [
      (objects) => (specOf(named(objects, 'ScaledObject', 'ledger'))['maxReplicaCount'] = 9),
      (objects) => (specOf(named(objects, 'ScaledObject', 'ledger'))['minReplicaCount'] = 1),
      (objects) => {
        for (const trigger of listAt(named(objects, 'ScaledObject', 'ledger'), 'spec.triggers'))
          delete (trigger['metadata'] as Fields)['excludePersistentLag'];
      },
      (objects) => {
        for (const trigger of listAt(named(objects, 'ScaledObject', 'ledger'), 'spec.triggers'))
          delete trigger['authenticationRef'];
      },
      (objects) => remove(objects, 'TriggerAuthentication', 'kafka'),
    ],
  },
  {
    name: 'no service has two autoscalers, nor a number of replicas besides',
    check: ({ objects }) =>
      ofKind(servicesOf(objects), 'Deployment')
        .filter(({ metadata, ...deployment }) => {
          const scalers = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').filter(
            (scaler) => textAt(scaler, 'spec.scaleTargetRef.name') === metadata.name,
          );
          return scalers.length !== 1 || at(deployment, 'spec.replicas') !== undefined;
        })
        .map(titleOf),
    violations: [
      (objects) => (specOf(named(objects, 'Deployment', 'ledger'))['replicas'] = 2),
      (objects) => {
        const scaler = structuredClone(
          named(objects, 'HorizontalPodAutoscaler', 'payout-gateway'),
        ) as Rendered;
        (at(scaler, 'spec.scaleTargetRef') as Fields)['name'] = 'ledger';
        objects.push(scaler);
      },
    ],
  },
];
