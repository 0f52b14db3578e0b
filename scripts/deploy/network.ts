import { messagingServices, type Service, services } from '@pesewa/contracts';
import { table } from './decisions.ts';
import { at, type Fields, fieldsAt, type Installation, listAt, ofKind } from './rendered.ts';

/** Ranges inside networks and clouds, some of which give out a machine's secrets; NAT64 and 6to4 lead to them. */
const INSIDE = {
  ipv4: '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 168.63.129.16/32',
  ipv6: '::1/128 fc00::/7 fe80::/10 64:ff9b::/96 2002::/16',
};

/** A range inside private networks: an installation says where its own endpoints are. */
const PRIVATE =
  /^(?:10\..*\/(?:[89]|[1-3]\d)|172\.(?:1[6-9]|2\d|3[01])\..*\/(?:1[2-9]|[23]\d)|192\.168\..*\/(?:1[6-9]|[23]\d))$/;

/** A range as text, which says if it leads to addresses inside. */
function blockText(block: unknown): string {
  const cidr = String(at(block, 'cidr'));
  const inside = INSIDE[cidr.includes(':') ? 'ipv6' : 'ipv4'].split(' ');
  const excepted = (at(block, 'except') ?? []) as readonly string[];
  const isSafe = PRIVATE.test(cidr) || inside.every((range) => excepted.includes(range));
  return isSafe ? cidr : `${cidr} with what is inside`;
}

const NAME = 'app.kubernetes.io/name';

/** What a selector finds, as texts: a name and other labels, one text for each name of a list; `*` is everything. */
function found(selector: unknown, nameLabel = NAME): readonly string[] {
  const labels = Object.entries(fieldsAt(selector, 'matchLabels')).map(
    ([key, value]) => `${key === nameLabel ? '' : key}=${String(value)}`,
  );
  const [expression, ...others] = listAt(selector, 'matchExpressions');
  if (expression === undefined) return [labels.toSorted().join().replace(/^=/, '') || '*'];
  const { key, operator, values } = expression;
  const isList = labels.length + others.length === 0 && key === NAME && operator === 'In';
  return isList ? (values as string[]) : [JSON.stringify(selector)];
}

/** A peer as texts: a range, Pods of this namespace, or Pods of another (`namespace/Pods`). */
function peerTexts(peer: Fields): readonly string[] {
  if ('ipBlock' in peer) return [blockText(peer['ipBlock'])];
  const pods = found(peer['podSelector']);
  if (!('namespaceSelector' in peer)) return 'podSelector' in peer ? pods : ['anybody'];
  return found(peer['namespaceSelector'], 'kubernetes.io/metadata.name').flatMap((namespace) =>
    pods.map((pod) => `${namespace}/${pod}`),
  );
}

const portText = ({ port, endPort, protocol = 'TCP' }: Fields): string =>
  [[port, endPort].filter(Boolean).join('-'), protocol].join(' ').replace(/ TCP$/, '');

/** What is allowed, one line for each: who, the direction, a peer and a port. */
function lines(
  who: readonly string[],
  direction: 'to' | 'from',
  rules: readonly Fields[],
): readonly string[] {
  const allowed = rules.flatMap((rule) => {
    const [peers, ports] = [listAt(rule, direction), listAt(rule, 'ports')];
    const texts = (peers.length > 0 ? peers : [{}]).flatMap(peerTexts);
    const own = (ports.length > 0 ? ports : [{ port: 'all' }]).map(portText);
    return texts.flatMap((peer) => own.map((port) => `${peer} ${port}`));
  });
  return who.flatMap((one) =>
    (allowed.length > 0 ? allowed : ['nobody']).map((line) => `${one} ${direction} ${line}`),
  );
}

const KAFKA = 'strimzi.io/cluster=pesewa';
const MONGODB = 'app=pesewa-mongodb-svc';
const TOOLS = 'operator-tools,app.kubernetes.io/component=maintenance,app.kubernetes.io/part-of=pesewa';

/** What the policies of an installation allow; Strimzi makes one of each listener. */
const allowedLines = ({ objects }: Installation): readonly string[] => [
  ...ofKind(objects, 'NetworkPolicy').flatMap(({ spec }) => {
    const who = found(at(spec, 'podSelector'));
    const types = at(spec, 'policyTypes') as readonly string[];
    return [
      ...(types.includes('Egress') ? lines(who, 'to', listAt(spec, 'egress')) : []),
      ...(types.includes('Ingress') ? lines(who, 'from', listAt(spec, 'ingress')) : []),
    ];
  }),
  ...ofKind(objects, 'Kafka')
    .flatMap((kafka) => listAt(kafka, 'spec.kafka.listeners'))
    .flatMap(({ port, networkPolicyPeers }) =>
      lines([KAFKA], 'from', [{ from: networkPolicyPeers, ports: [{ port }] }]),
    ),
];

/** What a service of the table must be allowed. */
function linesOfService(name: string, { port, operationsPort, ...service }: Service): readonly string[] {
  const isSimulator = name === 'provider-simulator';
  const gateway = name === 'console' ? 'gateway-internal' : 'gateway-system';
  return [
    `${name} from monitoring/prometheus ${operationsPort}`,
    ...(service.isPublic && !isSimulator ? [`${name} from ${gateway}/* ${port}`] : []),
    ...(name === 'console' ? [] : [`${name} from ${TOOLS} ${operationsPort}`]),
    ...(service.callsOutside === 'nothing' ? [] : [`${name} to 0.0.0.0/0 443`, `${name} to ::/0 443`]),
    ...service.calls.flatMap((called) => [
      `${name} to ${called} ${table[called]?.port}`,
      `${called} from ${name} ${table[called]?.port}`,
    ]),
    ...(service.messaging
      ? [
          `${name} from console,app.kubernetes.io/component=service ${operationsPort}`,
          `console to ${name},app.kubernetes.io/component=service ${operationsPort}`,
          ...messagingServices.map((one) => `${TOOLS} to ${name} ${services[one].operationsPort}`),
        ]
      : []),
    ...(isSimulator
      ? Object.keys(table)
          .filter((caller) => table[caller]?.callsOutside !== 'nothing')
          .flatMap((caller) => [`${caller} to ${name} ${port}`, `${name} from ${caller} ${port}`])
      : []),
  ];
}

/** Exactly what an installation must allow, and nothing else. */
const neededLines = (isOurs: boolean, isDev: boolean): readonly string[] => [
  '* from nobody',
  '* to nobody',
  ...['53', '53 UDP'].map((port) => `* to kube-system/k8s-app=kube-dns ${port}`),
  ...Object.entries(table)
    .filter(([name]) => isDev || name !== 'provider-simulator')
    .flatMap(([name, service]) => linesOfService(name, service)),
  `${TOOLS} to ${MONGODB} 27017`,
  ...[...messagingServices, 'prepare'].flatMap((name) => [
    `${name} to ${MONGODB} 27017`,
    `${name} to ${KAFKA},strimzi.io/kind=Kafka 9093`,
    `${name} to schema-registry/* 8081`,
    ...(isOurs ? [`${MONGODB} from ${name} 27017`, `${KAFKA} from ${name} 9093`] : []),
  ]),
  ...(isOurs
    ? [
        ...['mongodb-backup', TOOLS, MONGODB].map((name) => `${MONGODB} from ${name} 27017`),
        ...['mongodb-backup', MONGODB].map((name) => `${name} to ${MONGODB} 27017`),
        ...['9090', '9091', '9093'].map((port) => `${KAFKA} to ${KAFKA} ${port}`),
        `${KAFKA} from keda/* 9093`,
      ]
    : []),
];

/**
 * The connections that policies allow too many or lack, by the table of services. An installation may add private
 * ranges, one port each; what is managed elsewhere may have many.
 */
export function networkFaults(installation: Installation): readonly string[] {
  const isOurs = ofKind(installation.objects, 'Kafka').length > 0;
  const allowed = allowedLines(installation);
  const needed = neededLines(isOurs, installation.name === 'dev');
  const isOwn = (line: string): boolean => {
    const [, direction, range = '', port = ''] = line.split(' ');
    return direction === 'to' && PRIVATE.test(range) && (isOurs ? /^\d+$/ : /^\d+(?:-\d+)?$/).test(port);
  };
  const own = allowed.filter(isOwn);
  const managed = isOurs ? [] : [...messagingServices, 'prepare', 'operator-tools'];
  return [
    ...allowed.filter((line) => !needed.includes(line) && !isOwn(line)).map((line) => `allowed: ${line}`),
    ...needed.filter((line) => !allowed.includes(line)).map((line) => `not allowed: ${line}`),
    ...managed
      .filter((name) => !own.some((line) => line.startsWith(`${name} to `)))
      .map((name) => `not allowed: ${name} to what is managed`),
  ];
}
