import { decisionFaults, table } from './decisions.ts';
import { networkFaults } from './network.ts';
import * as read from './rendered.ts';

const { at, fieldsAt, listAt, mebibytes, named, ofKind, same } = read;
type Objects = readonly read.Rendered[];

const scalersOf = (objects: Objects, name: string): Objects =>
  ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').filter(
    (scaler) => at(scaler, 'spec.scaleTargetRef.name') === name,
  );

/** The quota has room for everything at its most, and for one Pod more while it is rolled out. */
function hasRoom(objects: Objects): boolean {
  const limited = (containers: readonly unknown[]) =>
    containers.reduce<number>((sum, one) => sum + mebibytes(at(one, 'resources.limits.memory')), 0);
  const needed = [
    ...read.podsOf(objects).map(({ owner, containers }) => {
      const [spec = { maxReplicas: 1 }] = scalersOf(objects, owner).map((scaler) => fieldsAt(scaler, 'spec'));
      return limited(containers) * (1 + Number(spec['maxReplicas'] ?? spec['maxReplicaCount']));
    }),
    ...ofKind(objects, 'KafkaNodePool').map(({ spec }) => limited([spec]) * Number(at(spec, 'replicas'))),
    ...ofKind(objects, 'MongoDBCommunity').map(
      ({ spec }) =>
        limited(listAt(spec, 'statefulSet.spec.template.spec.containers')) * Number(at(spec, 'members')),
    ),
  ];
  const hard = fieldsAt(named(objects, 'ResourceQuota', 'pesewa'), 'spec.hard');
  return mebibytes(hard['limits.memory']) >= needed.reduce((sum, one) => sum + one, 0);
}

/** A listener speaks TLS and leads to one public port; the console alone is behind the internal Gateway. */
function leadsToPublicPort(objects: Objects, gateway: read.Rendered, listener: read.Fields): boolean {
  const routes = ofKind(objects, 'HTTPRoute').filter((route) =>
    same(at(route, 'spec.hostnames'), [listener['hostname']]),
  );
  const parents = routes.flatMap((route) => listAt(route, 'spec.parentRefs'));
  const rules = routes.flatMap((route) => listAt(route, 'spec.rules'));
  const targets = rules.flatMap((rule) => listAt(rule, 'backendRefs'));
  const name = String(targets[0]?.['name']);
  return (
    listener['protocol'] === 'HTTPS' &&
    targets.length === 1 &&
    same(
      parents.map((parent) => [parent['name'], parent['sectionName']]),
      [[gateway.metadata.name, listener['name']]],
    ) &&
    table[name]?.isPublic === true &&
    table[name].port === targets[0]?.['port'] &&
    (name === 'console') === (gateway.metadata.name === 'console')
  );
}

/** Settings with such names are secret; a public key is not. */
export const secretName = /(?:PASSWORD|TOKEN|SECRET|(?<!PUBLIC)_KEYS?|MONGODB_URL|RAILS|OPERATORS)$/;

/** The Secrets that somebody makes, each with its keys. */
const madeSecrets = (objects: Objects): ReadonlyMap<unknown, readonly string[]> =>
  new Map<unknown, readonly string[]>([
    ...ofKind(objects, 'KafkaUser').map(
      ({ metadata }) => [`kafka-user-${metadata.name}`, ['password']] as const,
    ),
    ...ofKind(objects, 'Kafka').map(
      ({ metadata }) => [`${metadata.name}-cluster-ca-cert`, ['ca.crt']] as const,
    ),
    ...ofKind(objects, 'Certificate').map((one) => [at(one, 'spec.secretName'), ['ca.crt']] as const),
    ...ofKind(objects, 'ExternalSecret').map(
      (one) => [one.metadata.name, Object.keys(fieldsAt(one, 'spec.target.template.data'))] as const,
    ),
  ]);

/** Whether variables hold no secret, and each file that one names is of a Secret that somebody makes. */
function keepsSecrets(objects: Objects, { owner, spec, containers }: read.Pod): boolean {
  const made = madeSecrets(objects);
  const volumes = listAt(spec, 'volumes').flatMap((volume) =>
    'projected' in volume ? [fieldsAt(volume, 'projected')] : [],
  );
  const sources = volumes.flatMap((volume) => listAt(volume, 'sources').map(({ secret }) => secret));
  const files = sources.flatMap((secret) => {
    const keys = made.get(at(secret, 'name')) ?? [];
    const items = listAt(secret, 'items').filter(({ key }) => keys.includes(String(key)));
    return at(secret, 'items') === undefined ? keys : items.map(({ path }) => String(path));
  });
  const isMade = sources.every((secret) => made.has(at(secret, 'name')));
  // The database restored for the test is in the same Pod.
  const isSecret = (name: string) => secretName.test(name) && owner !== 'mongodb-restore-test';
  const variables = containers.flatMap((container) => [
    ...Object.entries(read.configurationOf(objects, container)),
    ...listAt(container, 'env').map(({ name, value }) => [String(name), value] as const),
  ]);
  const isGiven = (value: unknown) =>
    typeof value === 'string' &&
    (!value.startsWith('/etc/pesewa/') || files.includes(value.slice('/etc/pesewa/'.length)));
  return (
    isMade &&
    volumes.every((volume) => volume['defaultMode'] === 0o440) &&
    variables.every(([name, value]) => !isSecret(name) && isGiven(value))
  );
}

/** What breaks the rules for an installation, one line each. */
export function faultsOf(installation: read.Installation): readonly string[] {
  const { name: installed, objects } = installation;
  const classOf = (gateway: string) => at(named(objects, 'Gateway', gateway), 'spec.gatewayClassName');
  const pods = read.podsOf(objects);
  const images = pods.flatMap(({ containers }) => containers.map(({ image }) => String(image)));
  const released = images.filter((image) => !image.endsWith('0'.repeat(64)));
  const rules: readonly (readonly [rule: string, broken: readonly unknown[]])[] = [
    ['policies allow what the table says, and nothing else', networkFaults(installation)],
    ['every object is there and as decided', decisionFaults(installation)],
    [
      'no two autoscalers set the replicas of one service',
      pods.flatMap(({ owner }) => (scalersOf(objects, owner).length > 1 ? [owner] : [])),
    ],
    [
      'secrets are files that somebody makes',
      [
        ...ofKind(objects, 'Secret').map(({ metadata }) => metadata.name),
        ...pods.filter((pod) => !keepsSecrets(objects, pod)).map(({ metadata }) => metadata.name),
      ],
    ],
    ['the quota has room', hasRoom(objects) ? [] : ['ResourceQuota']],
    [
      'hosts lead to public ports',
      ofKind(objects, 'Gateway').flatMap((gateway) =>
        listAt(gateway, 'spec.listeners')
          .filter((listener) => !leadsToPublicPort(objects, gateway, listener))
          .map(({ hostname }) => hostname),
      ),
    ],
    [
      'the console is behind a Gateway of its own class',
      classOf('console') === classOf('pesewa') ? ['Gateway console spec gatewayClassName'] : [],
    ],
    [
      'the simulator is with developers alone',
      JSON.stringify(objects).includes('provider-simulator') === (installed === 'dev')
        ? []
        : ['provider-simulator'],
    ],
    ['images are of one release or none', [0, images.length].includes(released.length) ? [] : released],
  ];
  return rules.flatMap(([rule, broken]) => broken.map((what) => `${rule}: ${String(what)}`));
}
