import { type MessagingService, messagingServices, type Service, services } from '@pesewa/contracts';
import { site } from '../site.ts';
import { contains } from './addresses.ts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  numberAt,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  remove,
  textAt,
  titleOf,
} from './rendered.ts';

/** The label that every namespace has by default. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name';

const policiesOf = (
  objects: readonly Rendered[],
  labels: Readonly<Record<string, string>>,
): readonly Rendered[] =>
  ofKind(objects, 'NetworkPolicy').filter((policy) => {
    const selector = at(policy, 'spec.podSelector.matchLabels');
    return (
      typeof selector === 'object' &&
      selector !== null &&
      Object.entries(selector).every(([label, value]) => labels[label] === value)
    );
  });

const labelsOf = (name: string): Readonly<Record<string, string>> => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'pesewa',
  'app.kubernetes.io/component': 'service',
});

interface Opening {
  readonly peer: Fields;
  readonly port: number;
}

const openings = (
  objects: readonly Rendered[],
  name: string,
  direction: 'ingress' | 'egress',
): readonly Opening[] =>
  policiesOf(objects, labelsOf(name)).flatMap((policy) =>
    listAt(policy, `spec.${direction}`).flatMap((rule) =>
      listAt(rule, direction === 'ingress' ? 'from' : 'to').flatMap((peer) =>
        listAt(rule, 'ports').map((port) => ({ peer, port: numberAt(port, 'port') })),
      ),
    ),
  );

const peerName = (peer: Fields): string => {
  const namespace = at(peer, 'namespaceSelector.matchLabels');
  const pods = at(peer, 'podSelector.matchLabels');
  return JSON.stringify({ ...(namespace as Fields | undefined), ...(pods as Fields | undefined) });
};

const PROMETHEUS = JSON.stringify({
  [NAMESPACE_LABEL]: site.monitoringNamespace,
  'app.kubernetes.io/name': 'prometheus',
});

/** Openings in one line each, sorted. */
const linesOf = (all: readonly Opening[]): readonly string[] =>
  all.map(({ peer, port }) => `${peerName(peer)} ${port}`).toSorted();

const toInternet = (objects: readonly Rendered[], name: string): readonly Opening[] =>
  openings(objects, name, 'egress').filter(({ peer }) => textAt(peer, 'ipBlock.cidr').endsWith('/0'));

/** Addresses that our Pods must not reach as merchants or rails. */
const INSIDE = [
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '::1',
  'fd00:ec2::254',
  'fe80::1',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
] as const;

const callersOutside = (): readonly MessagingService[] =>
  messagingServices.filter((name) => (services[name] as Service).callsOutside !== 'nothing');

const policy = (objects: readonly Rendered[], name: string): Fields =>
  at(named(objects, 'NetworkPolicy', name), 'spec') as Fields;

/** Rules about allowed connections. */
export const networkRules: readonly Rule[] = [
  {
    name: 'every connection needs a policy; all pods reach the name service',
    check: ({ objects }) => {
      const all = ofKind(objects, 'NetworkPolicy').filter((one) => isSame(at(one, 'spec.podSelector'), {}));
      const denies = all.some(
        (one) =>
          isSame(at(one, 'spec.policyTypes'), ['Ingress', 'Egress']) &&
          listAt(one, 'spec.ingress').length === 0 &&
          listAt(one, 'spec.egress').length === 0,
      );
      const rules = all.flatMap((one) => [...listAt(one, 'spec.egress'), ...listAt(one, 'spec.ingress')]);
      const opened = rules.flatMap((rule) => listAt(rule, 'ports').map((port) => numberAt(port, 'port')));
      return [
        ...(denies ? [] : ['nothing is denied by default']),
        ...(isSame(opened, [53, 53]) ? [] : [`all may reach the ports ${opened.join(', ')}`]),
      ];
    },
    violations: [
      (objects) => remove(objects, 'NetworkPolicy', 'default-deny'),
      (objects) => (policy(objects, 'default-deny')['policyTypes'] = ['Ingress']),
      (objects) => (policy(objects, 'dns')['egress'] = [{ ports: [{ port: 443 }] }]),
      (objects) => remove(objects, 'NetworkPolicy', 'dns'),
    ],
  },
  {
    name: 'every workload has a policy, and every rule of it names both who and where',
    check: ({ objects }) => [
      ...podsOf(objects)
        .filter(({ owner }) => owner.metadata.name !== 'mongodb-restore-test')
        .filter(
          ({ labels }) =>
            policiesOf(objects, labels).filter((one) => !isSame(at(one, 'spec.podSelector'), {})).length ===
            0,
        )
        .map(({ owner }) => titleOf(owner)),
      ...ofKind(objects, 'NetworkPolicy')
        .filter((one) =>
          [
            ...listAt(one, 'spec.ingress').map((rule) => ({ peers: listAt(rule, 'from'), rule })),
            ...listAt(one, 'spec.egress').map((rule) => ({ peers: listAt(rule, 'to'), rule })),
          ].some(({ peers, rule }) => peers.length === 0 || listAt(rule, 'ports').length === 0),
        )
        .map(titleOf),
    ],
    violations: [
      (objects) => remove(objects, 'NetworkPolicy', 'ledger'),
      (objects) => (policy(objects, 'ledger')['egress'] = [{ ports: [{ port: 443 }] }]),
      (objects) => (policy(objects, 'ledger')['ingress'] = [{ from: [{ podSelector: {} }] }]),
    ],
  },
  {
    name: 'public ports are reached by the Gateway, operations ports by Prometheus, operators and their console',
    check: ({ name: installation, objects }) =>
      messagingServices.filter((name) => {
        const { port, operationsPort, isPublic } = services[name] as Service;
        const simulated = installation === 'dev' && name === 'webhook-ingress';
        const ingress = openings(objects, name, 'ingress');
        const at_ = (wanted: number) =>
          ingress.filter((one) => one.port === wanted).map(({ peer }) => peerName(peer));
        const gateway = at_(port).filter(
          (peer) => peer === JSON.stringify({ [NAMESPACE_LABEL]: site.gatewayNamespace }),
        );
        return !(
          ingress.every((one) => one.port === operationsPort || (isPublic && one.port === port)) &&
          gateway.length === (isPublic ? 1 : 0) &&
          at_(port).length === gateway.length + (simulated ? 1 : 0) &&
          isSame(at_(operationsPort).toSorted(), [
            '{"app.kubernetes.io/name":"console","app.kubernetes.io/component":"service"}',
            '{"app.kubernetes.io/name":"operator-tools","app.kubernetes.io/part-of":"pesewa","app.kubernetes.io/component":"maintenance"}',
            PROMETHEUS,
          ])
        );
      }),
    violations: [
      (objects) =>
        void (listAt(policy(objects, 'ledger'), 'ingress') as Fields[]).push({
          from: [{ podSelector: { matchLabels: { any: 'body' } } }],
          ports: [{ protocol: 'TCP', port: 4051 }],
        }),
      (objects) =>
        void (listAt(policy(objects, 'payout-gateway'), 'ingress') as Fields[]).push({
          from: [{ namespaceSelector: {} }],
          ports: [{ protocol: 'TCP', port: 4010 }],
        }),
    ],
  },
  {
    name: 'the console is reached by the internal Gateway, and reaches the operations ports of the others alone',
    check: ({ objects }) => {
      const { port, operationsPort } = services.console;
      const reachedBy = [
        `${JSON.stringify({ [NAMESPACE_LABEL]: site.internalGatewayNamespace })} ${port}`,
        `${PROMETHEUS} ${operationsPort}`,
      ];
      const reaches = messagingServices.map((name) => {
        const selector = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'service' };
        return `${JSON.stringify(selector)} ${services[name].operationsPort}`;
      });
      return [
        ...(isSame(linesOf(openings(objects, 'console', 'ingress')), reachedBy.toSorted())
          ? []
          : ['who reaches it']),
        ...(isSame(linesOf(openings(objects, 'console', 'egress')), reaches.toSorted())
          ? []
          : ['what it reaches']),
      ];
    },
    violations: [
      (objects) =>
        void (listAt(policy(objects, 'console'), 'ingress') as Fields[]).push({
          from: [{ namespaceSelector: { matchLabels: { [NAMESPACE_LABEL]: site.gatewayNamespace } } }],
          ports: [{ protocol: 'TCP', port: 4080 }],
        }),
      (objects) =>
        void (listAt(policy(objects, 'console'), 'egress') as Fields[]).push({
          to: [{ podSelector: { matchLabels: { app: 'pesewa-mongodb-svc' } } }],
          ports: [{ protocol: 'TCP', port: 27_017 }],
        }),
      (objects) => void (listAt(policy(objects, 'console'), 'egress') as Fields[]).pop(),
    ],
  },
  {
    name: 'services reach MongoDB, Kafka and the registry at their ports, and the internet only to call rails or merchants',
    check: ({ name: installation, objects }) =>
      messagingServices.filter((name) => {
        const isCaller = callersOutside().includes(name);
        const ports = openings(objects, name, 'egress').map(({ port }) => port);
        const wanted = [
          27_017,
          9_093,
          8_081,
          ...(isCaller ? [443, 443] : []),
          ...(isCaller && installation === 'dev' ? [4_070] : []),
        ];
        return (
          !isSame(ports.map(String).toSorted(), wanted.map(String).toSorted()) ||
          toInternet(objects, name).length !== (isCaller ? 2 : 0)
        );
      }),
    violations: [
      (objects) =>
        void (listAt(policy(objects, 'ledger'), 'egress') as Fields[]).push({
          to: [{ ipBlock: { cidr: '0.0.0.0/0' } }],
          ports: [{ protocol: 'TCP', port: 443 }],
        }),
      (objects) => void (listAt(policy(objects, 'webhook-dispatcher'), 'egress') as Fields[]).pop(),
    ],
  },
  {
    name: 'the internet contains neither private ranges nor the metadata addresses of clouds',
    check: ({ objects }) =>
      callersOutside().flatMap((name) =>
        toInternet(objects, name).flatMap(({ peer }) => {
          const cidr = textAt(peer, 'ipBlock.cidr');
          const except = (at(peer, 'ipBlock.except') ?? []) as readonly string[];
          return [
            ...INSIDE.filter(
              (address) => contains(cidr, address) && !except.some((range) => contains(range, address)),
            ),
            ...except.filter((range) => !contains(cidr, range.split('/')[0] ?? '')),
          ].map((address) => `${name} ${address}`);
        }),
      ),
    violations: [
      (objects) => {
        const [peer] = toInternet(objects, 'webhook-dispatcher');
        if (peer) delete (peer.peer['ipBlock'] as Fields)['except'];
      },
      (objects) => {
        for (const { peer } of toInternet(objects, 'payout-gateway')) {
          const block = peer['ipBlock'] as { except: string[] };
          block.except = block.except.filter((range) => range !== 'fc00::/7');
        }
      },
    ],
  },
];
