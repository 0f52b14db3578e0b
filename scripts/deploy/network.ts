import { BlockList, isIPv6 } from 'node:net';
import { type Service, services } from '@pesewa/contracts';
import { at, type Fields, fieldsAt, listAt, ofKind, type Pod, type Rendered } from './rendered.ts';

/** Addresses inside networks and clouds, some of which give out a machine's secrets. */
const INSIDE = {
  ipv4: [
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '168.63.129.16',
  ],
  ipv6: ['::1', 'fd00:ec2::254', 'fe80::1', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1'],
} as const;

/** Who may reach operator APIs and metrics. */
const OPERATORS = ['prometheus', 'operator-tools', 'console'];

interface IpBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

const isInternetOnly = ({ cidr, except = [] }: IpBlock): boolean => {
  const family = isIPv6(cidr.replace(/\/.*/, '')) ? 'ipv6' : 'ipv4';
  const excepted = new BlockList();
  for (const range of except) {
    const [base = '', length] = range.split('/');
    excepted.addSubnet(base, Number(length), family);
  }
  return INSIDE[family].every((address) => excepted.check(address, family));
};

/** Whether a policy is for a Pod by its labels; those for every Pod are left out. */
const selects = (policy: Rendered, labels: Pod['labels']): boolean => {
  const wanted = Object.entries(fieldsAt(policy, 'spec.podSelector.matchLabels'));
  const expressions = listAt(policy, 'spec.podSelector.matchExpressions');
  return (
    wanted.length + expressions.length > 0 &&
    wanted.every(([label, value]) => labels[label] === value) &&
    expressions.every(({ key, values }) => (values as string[]).includes(labels[String(key)] ?? ''))
  );
};

/** What policies allow a Pod: each peer with each port. */
function openings(policies: readonly Rendered[], direction: 'ingress' | 'egress') {
  const rules = policies.flatMap((policy) => listAt(policy, `spec.${direction}`));
  return rules.flatMap((rule) =>
    listAt(rule, direction === 'ingress' ? 'from' : 'to').flatMap((peer) =>
      listAt(rule, 'ports').map(({ port }) => ({ peer, port })),
    ),
  );
}

/**
 * Whether a Pod has a policy, is reached by strangers at its public port through its Gateway alone and at its operations port by operators, and reaches the
 * internet, and nothing inside by it, only if it calls rails or merchants.
 */
export function isIsolated(objects: readonly Rendered[], { labels }: Pod): boolean {
  const name = labels['app.kubernetes.io/name'] ?? '';
  const service = (services as Readonly<Record<string, Service>>)[name];
  const policies = ofKind(objects, 'NetworkPolicy').filter((policy) => selects(policy, labels));
  const blocks = openings(policies, 'egress').flatMap(({ peer }) =>
    'ipBlock' in peer ? [peer['ipBlock'] as IpBlock] : [],
  );
  // What is managed elsewhere has private endpoints.
  const internet = blocks.filter(({ cidr }) => cidr.endsWith('/0'));
  const gateway = name === 'console' ? 'gateway-internal' : 'gateway-system';
  const reachedBy = openings(policies, 'ingress');
  const ofOperations = reachedBy.filter(({ port }) => service && port === service.operationsPort);
  const isOperator = ({ peer }: { readonly peer: Fields }) =>
    OPERATORS.includes(String(fieldsAt(peer, 'podSelector.matchLabels')['app.kubernetes.io/name']));
  const strangers = reachedBy
    .filter(({ peer }) => !('podSelector' in peer))
    .map(
      ({ peer, port }) =>
        `${String(fieldsAt(peer, 'namespaceSelector.matchLabels')['kubernetes.io/metadata.name'])} ${String(port)}`,
    );
  const isOpen = service?.isPublic === true && name !== 'provider-simulator';
  return (
    policies.length > 0 &&
    internet.length === (service && service.callsOutside !== 'nothing' ? 2 : 0) &&
    internet.every(isInternetOnly) &&
    ofOperations.every(isOperator) &&
    strangers.join() === (isOpen ? `${gateway} ${service.port}` : '')
  );
}

/** Whether nothing connects without a policy, and no policy forgets to say with whom or where. */
export function isDenied(objects: readonly Rendered[]): boolean {
  const policies = ofKind(objects, 'NetworkPolicy');
  const rules = policies.flatMap((policy) => [
    ...listAt(policy, 'spec.ingress'),
    ...listAt(policy, 'spec.egress'),
  ]);
  const forAll = policies.filter((policy) => JSON.stringify(at(policy, 'spec.podSelector')) === '{}');
  const denies = ({ metadata, ...policy }: Rendered) =>
    metadata.name === 'default-deny' && String(at(policy, 'spec.policyTypes')) === 'Ingress,Egress';
  return (
    forAll.some(denies) &&
    openings(forAll, 'ingress').length === 0 &&
    openings(forAll, 'egress').every(({ port }) => port === 53) &&
    rules.every((rule: Fields) => listAt(rule, 'ports').length > 0 && ('from' in rule || 'to' in rule))
  );
}
