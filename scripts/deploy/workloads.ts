import { type DeployedService, deployed, ending, serviceOf } from './model.ts';
import { type Manifest, manifest, selectorOf } from './objects.ts';
import { podTemplate, spreadOver } from './pods.ts';
import { site } from './site.ts';

/** Priority classes: services that move money take precedence over those that report. */
export const priorities = { payments: 'pesewa-payments', support: 'pesewa-support' } as const;

/** Runs a service, or the given subcommand. */
export const nodeCommand = ['node', 'src/main.ts'] as const;

/** The image of a part of ours; the overlay sets its digest. */
export const imageOf = (name: string): string => `${site.imageRegistry}/${name}`;

const probe = (
  path: string,
  every: { readonly periodSeconds: number; readonly failureThreshold: number },
) => ({
  httpGet: { path, port: 'operations' },
  timeoutSeconds: 3,
  ...every,
});

/** Ports and probes of a service's container, and its lifecycle. */
export const serviceContainer = (name: string) => {
  const { port, operationsPort, isPublic } = serviceOf(name);
  return {
    ports: [
      ...(isPublic ? [{ name: 'http', containerPort: port, protocol: 'TCP' }] : []),
      { name: 'operations', containerPort: operationsPort, protocol: 'TCP' },
    ],
    // A gateway whose database may be a backup waits for Kafka: five minutes.
    startupProbe: probe('/livez', { periodSeconds: 5, failureThreshold: 60 }),
    readinessProbe: probe('/readyz', { periodSeconds: 5, failureThreshold: 2 }),
    livenessProbe: probe('/livez', { periodSeconds: 10, failureThreshold: 6 }),
    // Endpoints are removed while the Pod is already ending, so it keeps serving for that long.
    lifecycle: { preStop: { sleep: { seconds: ending.preStopSeconds } } },
  };
};

/** An account without rights: none of our Pods uses the API server. */
export const serviceAccount = (name: string, pullSecret = site.imagePullSecret): Manifest =>
  manifest(
    'v1',
    'ServiceAccount',
    name,
    { component: 'platform' },
    {
      automountServiceAccountToken: false,
      ...(pullSecret !== undefined && { imagePullSecrets: [{ name: pullSecret }] }),
    },
  );

/** The Service of a part: its public port, and its operations port. */
export const serviceManifest = (name: string): Manifest => {
  const { port, operationsPort, isPublic } = serviceOf(name);
  const of = (portName: string, number: number) => ({
    name: portName,
    port: number,
    targetPort: portName,
    protocol: 'TCP',
    appProtocol: 'http',
  });
  return manifest(
    'v1',
    'Service',
    name,
    { component: 'service' },
    {
      spec: {
        type: 'ClusterIP',
        selector: selectorOf(name),
        // Only operators connect here, even while it is not ready: it may be what they must look at.
        ...(isPublic ? {} : { publishNotReadyAddresses: true }),
        ports: [...(isPublic ? [of('http', port)] : []), of('operations', operationsPort)],
      },
    },
  );
};

/** The secrets of what uses MongoDB and Kafka. */
export const messagingSecrets = (name: string) => ({ stored: true, kafkaUser: name, mongodb: true });

/** The secrets of what uses neither. */
export const storedSecrets = { stored: true, mongodb: false } as const;

/** Files are read once, at the start: if Reloader runs, a changed secret restarts its Pods. */
const restartedByReloader = { 'reloader.stakater.com/auto': 'true' };

/** How a Deployment is replaced: first one more Pod, and one less once that serves. */
export const rollOut = {
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  minReadySeconds: 10,
  progressDeadlineSeconds: 900,
  revisionHistoryLimit: 5,
} as const;

/** A service's Deployment; its autoscaler sets the number of replicas. */
export function deployment(name: DeployedService): Manifest {
  const isMessaging = serviceOf(name).messaging !== undefined;
  return manifest(
    'apps/v1',
    'Deployment',
    name,
    { component: 'service', annotations: restartedByReloader },
    {
      spec: {
        selector: { matchLabels: selectorOf(name) },
        ...rollOut,
        template: podTemplate({
          name,
          component: 'service',
          image: imageOf(name),
          command: nodeCommand,
          size: deployed[name].size,
          secrets: isMessaging ? messagingSecrets(name) : storedSecrets,
          priority: isMessaging ? priorities.payments : priorities.support,
          container: serviceContainer(name),
          pod: { topologySpreadConstraints: spreadOver(selectorOf(name), ['pod-template-hash']) },
        }),
      },
    },
  );
}

/** Lets nodes be drained one Pod at a time; a Pod that is not ready does not delay that. */
export const disruptionBudget = (name: string): Manifest =>
  manifest(
    'policy/v1',
    'PodDisruptionBudget',
    name,
    { component: 'service' },
    {
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: selectorOf(name) },
      },
    },
  );

const CPU_UTILIZATION = 60;

/** Scales services with requests by CPU: up at once, down slowly. */
export function cpuAutoscaler(name: DeployedService): Manifest {
  const { min, max } = deployed[name].scale;
  return manifest(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    name,
    { component: 'service' },
    {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: min,
        maxReplicas: max,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_UTILIZATION } },
          },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: 'Max',
            policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }],
          },
          scaleDown: {
            stabilizationWindowSeconds: 300,
            selectPolicy: 'Min',
            policies: [{ type: 'Pods', value: 1, periodSeconds: 120 }],
          },
        },
      },
    },
  );
}

/** A Job that prepares something before the services are rolled out; doing it again is safe. */
export function prepareJob(
  name: string,
  image: string,
  options: Pick<Parameters<typeof podTemplate>[0], 'size' | 'secrets'>,
): Manifest {
  return manifest(
    'batch/v1',
    'Job',
    name.startsWith('prepare') ? name : `prepare-${name}`,
    { component: 'prepare', of: name },
    {
      spec: {
        backoffLimit: 6,
        activeDeadlineSeconds: 900,
        ttlSecondsAfterFinished: 86_400,
        template: podTemplate({
          name,
          component: 'prepare',
          image,
          command: [...nodeCommand, 'prepare'],
          priority: priorities.support,
          pod: { restartPolicy: 'OnFailure' },
          ...options,
        }),
      },
    },
  );
}
