import { at, configurationOf, fieldsAt, listAt, ofKind, type Pod, type Rendered } from './rendered.ts';

/** Settings with such names are secret; a public key is not. */
export const secretName = /(?:PASSWORD|TOKEN|SECRET|(?<!PUBLIC)_KEYS?|MONGODB_URL|RAILS|OPERATORS)$/;

/** The Secrets that somebody makes, each with its keys. */
const madeSecrets = (objects: readonly Rendered[]): ReadonlyMap<unknown, readonly string[]> =>
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
export function keepsSecrets(objects: readonly Rendered[], { owner, spec, containers }: Pod): boolean {
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
    ...Object.entries(configurationOf(objects, container)),
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
