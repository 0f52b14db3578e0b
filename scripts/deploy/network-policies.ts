import { type MessagingService, messagingServices } from '@pesewa/contracts';
import { backupName } from './backup.ts';
import { kafkaUsers } from './kafka.ts';
import { serviceOf } from './model.ts';
import { type Labels, type Manifest, manifest, selectorOf } from './objects.ts';
import { operatorLabels } from './operator-tools.ts';
import { kafka, mongodb, site } from './site.ts';

const API = 'networking.k8s.io/v1';

interface Traffic {
  readonly podSelector: Readonly<Record<string, unknown>>;
  readonly ingress?: readonly object[];
  readonly egress?: readonly object[];
}

const policy = (name: string, { podSelector, ingress, egress }: Traffic): Manifest =>
  manifest(
    API,
    'NetworkPolicy',
    name,
    { component: 'platform', of: name },
    {
      spec: {
        podSelector,
        policyTypes: [...(ingress ? ['Ingress'] : []), ...(egress ? ['Egress'] : [])],
        ...(ingress && { ingress }),
        ...(egress && { egress }),
      },
    },
  );

const tcp = (port: number) => ({ protocol: 'TCP', port });
const pods = (matchLabels: Labels) => ({ podSelector: { matchLabels } });
const named = (name: string): Labels => ({ 'app.kubernetes.io/name': name });
const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});

const kafkaPods: Labels = { 'strimzi.io/cluster': kafka.cluster };
const mongodbPods: Labels = { app: mongodb.service };

/**
 * Private and special ranges, including the addresses of clouds' metadata services, which give out a machine's secrets.
 */
const notTheInternet = {
  v4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
  // NAT64 and 6to4 contain IPv4 addresses, private ones too.
  v6: ['::1/128', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', 'fc00::/7', 'fe80::/10', 'ff00::/8'],
} as const;

/** The internet by HTTPS, and no internal address. */
const internet = {
  to: [
    { ipBlock: { cidr: '0.0.0.0/0', except: notTheInternet.v4 } },
    { ipBlock: { cidr: '::/0', except: notTheInternet.v6 } },
  ],
  ports: [tcp(443)],
};

/**
 * The API server has no label, so all private ranges are allowed at its ports. An overlay that knows its address
 * narrows this.
 */
const apiServer = {
  to: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((cidr) => ({ ipBlock: { cidr } })),
  ports: [tcp(443), tcp(6_443)],
};

const prometheus = { ...inNamespace(site.monitoringNamespace), ...pods(named('prometheus')) };
const operatorConsole = pods(selectorOf('console'));

const toMongodb = { to: [pods(mongodbPods)], ports: [tcp(mongodb.port)] };
const toKafka = { to: [pods({ ...kafkaPods, 'strimzi.io/kind': 'Kafka' })], ports: [tcp(kafka.port)] };
const toRegistry = {
  to: [inNamespace(site.schemaRegistry.namespace)],
  ports: [tcp(site.schemaRegistry.port)],
};

/** The allowed connections to and from a service. */
function servicePolicy(name: MessagingService): Manifest {
  const { port, operationsPort, isPublic, callsOutside } = serviceOf(name);
  return policy(name, {
    podSelector: { matchLabels: named(name) },
    ingress: [
      ...(isPublic ? [{ from: [inNamespace(site.gatewayNamespace)], ports: [tcp(port)] }] : []),
      {
        from: [prometheus, pods(operatorLabels), operatorConsole],
        ports: [tcp(operationsPort)],
      },
    ],
    egress: [toMongodb, toKafka, toRegistry, ...(callsOutside === 'nothing' ? [] : [internet])],
  });
}

/** The console is reached from inside the company alone, and reaches the operator APIs alone. */
function consolePolicy(): Manifest {
  const { port, operationsPort } = serviceOf('console');
  return policy('console', {
    podSelector: { matchLabels: named('console') },
    ingress: [
      { from: [inNamespace(site.internalGatewayNamespace)], ports: [tcp(port)] },
      { from: [prometheus], ports: [tcp(operationsPort)] },
    ],
    egress: messagingServices.map((name) => ({
      to: [pods(selectorOf(name))],
      ports: [tcp(serviceOf(name).operationsPort)],
    })),
  });
}

/** No connection is allowed except by the other policies. */
const defaultDeny = (): Manifest => policy('default-deny', { podSelector: {}, ingress: [], egress: [] });

const dns = (): Manifest =>
  policy('dns', {
    podSelector: {},
    egress: [
      {
        to: [{ ...inNamespace('kube-system'), ...pods({ 'k8s-app': 'kube-dns' }) }],
        ports: [{ protocol: 'UDP', port: 53 }, tcp(53)],
      },
    ],
  });

/** Members may connect to one another, and Pods with a user to the members. */
const mongodbPolicy = (): Manifest => {
  const clients = [...messagingServices, kafkaUsers.prepare, backupName];
  const byName = { key: 'app.kubernetes.io/name', operator: 'In', values: clients };
  return policy('mongodb', {
    podSelector: { matchLabels: mongodbPods },
    ingress: [
      {
        from: [{ podSelector: { matchExpressions: [byName] } }, pods(operatorLabels), pods(mongodbPods)],
        ports: [tcp(mongodb.port)],
      },
    ],
    egress: [toMongodb, apiServer],
  });
};

/**
 * Strimzi writes the policy of connections to brokers, from the listener's peers; this one is for connections from
 * them.
 */
const kafkaPolicy = (): Manifest =>
  policy('kafka', {
    podSelector: { matchLabels: kafkaPods },
    egress: [{ to: [pods(kafkaPods)], ports: [tcp(9_090), tcp(9_091), tcp(kafka.port)] }, apiServer],
  });

/** All policies. */
export const networkPolicies = (): readonly Manifest[] => [
  defaultDeny(),
  dns(),
  ...messagingServices.map(servicePolicy),
  consolePolicy(),
  policy(kafkaUsers.prepare, {
    podSelector: { matchLabels: named(kafkaUsers.prepare) },
    egress: [toMongodb, toKafka, toRegistry],
  }),
  policy(backupName, { podSelector: { matchLabels: named(backupName) }, egress: [toMongodb] }),
  policy('operator-tools', {
    podSelector: { matchLabels: operatorLabels },
    egress: [
      toMongodb,
      {
        to: messagingServices.map((name) => pods(named(name))),
        ports: messagingServices.map((name) => tcp(serviceOf(name).operationsPort)),
      },
    ],
  }),
  mongodbPolicy(),
  kafkaPolicy(),
];

/** The allowed connections to and from the simulator, which is both the rail and a merchant's endpoint. */
export function simulatorPolicies(): readonly Manifest[] {
  const name = 'provider-simulator';
  const { port, operationsPort, calls } = serviceOf(name);
  const callers = messagingServices.filter((service) => serviceOf(service).callsOutside !== 'nothing');
  const called = calls.map((service) => ({
    to: [pods(named(service))],
    ports: [tcp(serviceOf(service).port)],
  }));
  return [
    policy(name, {
      podSelector: { matchLabels: named(name) },
      ingress: [
        { from: callers.map((service) => pods(named(service))), ports: [tcp(port)] },
        {
          from: [prometheus, pods(operatorLabels)],
          ports: [tcp(operationsPort)],
        },
      ],
      egress: called,
    }),
    ...callers.map((service) =>
      policy(`${service}-to-simulator`, {
        podSelector: { matchLabels: named(service) },
        egress: [{ to: [pods(named(name))], ports: [tcp(port)] }],
      }),
    ),
    ...calls.map((service) =>
      policy(`${service}-from-simulator`, {
        podSelector: { matchLabels: named(service) },
        ingress: [{ from: [pods(named(name))], ports: [tcp(serviceOf(service).port)] }],
      }),
    ),
  ];
}
