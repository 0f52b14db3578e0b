import { decisionFaults } from './decisions.ts';
import { networkFaults } from './network.ts';
import { isAvailable, isLimited, isRestricted, isServing, replicas, same, scalersOf, table } from './pods.ts';
import * as read from './rendered.ts';
import { keepsSecrets } from './secrets.ts';

const { at, fieldsAt, listAt, mebibytes, named, ofKind } = read;
type Objects = readonly read.Rendered[];

const titles = (pods: readonly read.Pod[], isGood: (pod: read.Pod) => boolean): readonly string[] =>
  pods.filter((pod) => !isGood(pod)).map(({ title }) => title);

/** The quota has room for everything at its most, and for one Pod more while it is rolled out. */
function hasRoom(objects: Objects): boolean {
  const limited = (containers: readonly unknown[]) =>
    containers.reduce<number>((sum, one) => sum + mebibytes(at(one, 'resources.limits.memory')), 0);
  const needed = [
    ...read.podsOf(objects).map(({ owner, containers }) => {
      const scaler = scalersOf(objects, owner.metadata.name)[0];
      return limited(containers) * (1 + (scaler ? replicas(scaler, 'max') : 1));
    }),
    ...ofKind(objects, 'KafkaNodePool').map(
      (pool) => limited([pool['spec']]) * Number(at(pool, 'spec.replicas')),
    ),
    ...ofKind(objects, 'MongoDBCommunity').map(
      (one) =>
        limited(listAt(one, 'spec.statefulSet.spec.template.spec.containers')) *
        Number(at(one, 'spec.members')),
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
  const targets = routes
    .flatMap((route) => listAt(route, 'spec.rules'))
    .flatMap((rule) => listAt(rule, 'backendRefs'));
  const parents = routes.flatMap((route) => listAt(route, 'spec.parentRefs'));
  const [{ name = '', port } = {}] = targets as readonly {
    readonly name?: string;
    readonly port?: unknown;
  }[];
  return (
    listener['protocol'] === 'HTTPS' &&
    targets.length === 1 &&
    same(
      parents.map((parent) => [parent['name'], parent['sectionName']]),
      [[gateway.metadata.name, listener['name']]],
    ) &&
    table[name]?.isPublic === true &&
    table[name].port === port &&
    (name === 'console') === (gateway.metadata.name === 'console')
  );
}

/** An image is named by its digest, all of one release or none; developers' by a tag. */
function isReleased({ name, objects }: read.Installation): boolean {
  const images = read
    .podsOf(objects)
    .flatMap(({ containers }) => containers.map(({ image }) => String(image)));
  const open = images.filter((image) => image.endsWith('0'.repeat(64)));
  const isExact = (image: string) =>
    (name === 'dev' ? /:(?!latest$)[\w.-]+$/ : /@sha256:[0-9a-f]{64}$/).test(image);
  return images.every(isExact) && [0, images.length].includes(open.length);
}

const when = (isGood: boolean, what: string): readonly string[] => (isGood ? [] : [what]);

/** What must hold in every installation; each rule returns what breaks it. */
export const rules: Readonly<Record<string, (installation: read.Installation) => readonly string[]>> = {
  'containers are limited': ({ objects }) =>
    titles(read.podsOf(objects), ({ containers }) => containers.every(isLimited)),
  'services have ports and time to end': ({ objects }) =>
    titles(read.servicePods(objects), (pod) => isServing(objects, pod)),
  'Pods run without root, rights and a writable root': ({ objects }) => [
    ...titles(read.podsOf(objects), isRestricted),
    ...when(
      named(objects, 'Namespace', 'pesewa')?.metadata.labels?.['pod-security.kubernetes.io/enforce'] ===
        'restricted',
      'Namespace',
    ),
  ],
  'policies allow what the table says, and nothing else': networkFaults,
  'services keep their replicas': ({ objects }) =>
    titles(
      read.servicePods(objects).filter(({ owner }) => owner.kind === 'Deployment'),
      (pod) => isAvailable(objects, pod),
    ),
  'secrets are files that somebody makes': ({ objects }) => [
    ...ofKind(objects, 'Secret').map(({ metadata }) => metadata.name),
    ...titles(read.podsOf(objects), (pod) => keepsSecrets(objects, pod)),
  ],
  'the quota has room': ({ objects }) => when(hasRoom(objects), 'ResourceQuota'),
  'hosts lead to public ports': ({ objects }) =>
    ofKind(objects, 'Gateway').flatMap((gateway) =>
      listAt(gateway, 'spec.listeners')
        .filter((listener) => !leadsToPublicPort(objects, gateway, listener))
        .map(({ hostname }) => String(hostname)),
    ),
  'the simulator is with developers alone': ({ name, objects }) =>
    when(JSON.stringify(objects).includes('provider-simulator') === (name === 'dev'), 'provider-simulator'),
  'every object is there and as decided': decisionFaults,
  'images are exact': (installation) => when(isReleased(installation), 'images'),
};

/** What breaks the rules in an installation, one line each. */
export const faultsOf = (installation: read.Installation): readonly string[] =>
  Object.entries(rules).flatMap(([rule, broken]) => broken(installation).map((what) => `${rule}: ${what}`));
