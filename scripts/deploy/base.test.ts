import path from 'node:path';
import { messagingServices, serviceNames, services, topics } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { repositoryRoot } from '../command.ts';
import { scaledByLag } from './kafka.ts';
import { kustomize, listAt, named, render } from './rendered.ts';

const leftOut = kustomize ? '' : ' (left out: no kubectl, no kustomize)';
const dev = path.join(repositoryRoot, 'deploy', 'kubernetes', 'overlays', 'dev');
const objects = kustomize ? render(dev).objects : [];
const labelsOf = (name: string) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/component': 'service',
});
const probe = (route: string) => ({ httpGet: { path: route, port: 'operations' } });

// Only kustomize renders the base.
describe.runIf(kustomize)(`the base${leftOut}`, () => {
  it.each(serviceNames)(
    '%s is reached at the ports of the table, and probed at the one for operations',
    (name) => {
      const { port, operationsPort, isPublic } = services[name];
      const ports = isPublic ? [port, operationsPort] : [operationsPort];
      const labels = labelsOf(name);
      const workload = named(objects, 'Deployment', name) ?? named(objects, 'StatefulSet', name);
      expect(workload).toMatchObject({ spec: { template: { metadata: { labels } } } });
      expect(named(objects, 'Service', name)).toMatchObject({
        spec: { selector: labels, ports: ports.map((one) => ({ port: one })) },
      });
      expect(listAt(workload, 'spec.template.spec.containers')[0]).toMatchObject({
        ports: ports.map((one) => ({ containerPort: one })),
        startupProbe: probe('/livez'),
        readinessProbe: probe('/readyz'),
        livenessProbe: probe('/livez'),
      });
    },
  );

  it.each(serviceNames.filter((name) => name !== 'provider-simulator'))(
    '%s loses no replica to a roll-out, and one to a node',
    (name) => {
      const labels = labelsOf(name);
      const spread = { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' };
      const topologySpreadConstraints = [{}, { ...spread, labelSelector: { matchLabels: labels } }];
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } };
      expect(named(objects, 'Deployment', name)).toMatchObject({
        spec: { strategy, template: { spec: { topologySpreadConstraints } } },
      });
      expect(named(objects, 'PodDisruptionBudget', name)).toMatchObject({
        spec: { selector: { matchLabels: labels } },
      });
    },
  );

  it.each(scaledByLag)('%s is scaled by all that it consumes', (name) => {
    const scaled = named(objects, 'ScaledObject', name);
    expect(scaled).toMatchObject({ spec: { scaleTargetRef: { name } } });
    const triggers = listAt(scaled, 'spec.triggers').map(({ metadata }) => metadata as object);
    const wanted = services[name].messaging.consumes.map((topic) => topics[topic].name);
    expect(triggers.map((one) => Reflect.get(one, 'topic') as string).toSorted()).toEqual(wanted.toSorted());
    for (const trigger of triggers) expect(trigger).toMatchObject({ consumerGroup: name });
  });

  it.each(messagingServices)('%s is prepared by the user who may', (name) => {
    const [container] = listAt(named(objects, 'Job', `prepare-${name}`), 'spec.template.spec.containers');
    expect(listAt(container, 'env')).toContainEqual({
      name: 'MONGODB_URL_FILE',
      value: '/etc/pesewa/PREPARE_MONGODB_URL',
    });
  });

  it('is watched', () => {
    const endpoint = { port: 'operations', path: '/metrics' };
    const monitor = named(objects, 'PodMonitor', 'pesewa');
    expect(monitor).toMatchObject({ spec: { podMetricsEndpoints: [endpoint] } });
    for (const name of ['services', 'reconciler'])
      expect(named(objects, 'PrometheusRule', name)).toBeDefined();
  });
});
