import type { ServiceName } from '@pesewa/contracts';
import { isSecret, type Settings } from '../../docs/configuration.ts';
import { listAt, ofKind, type Rendered } from './rendered.ts';
import { configurationOf } from './services.ts';

/** Settings with such names are secret; a public key is not. */
export const secretName = /(?:PASSWORD|TOKEN|SECRET|(?<!PUBLIC)_KEYS?|MONGODB_URL|RAILS|OPERATORS)$/;

/** Settings whose names suggest a secret, but that are not marked as one. */
export const unmarkedSecrets = (settings: Settings): readonly string[] =>
  Object.entries(settings)
    .filter(([name, setting]) => secretName.test(name) && !isSecret(setting))
    .map(([name]) => name);

/** The environment that a service starts with, with a test's values in place of its files. */
export function startEnvironment(
  objects: readonly Rendered[],
  name: ServiceName,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const owner = ofKind(objects, 'Deployment', 'StatefulSet').find(({ metadata }) => metadata.name === name);
  const [one = {}] = listAt(owner, 'spec.template.spec.containers');
  return Object.fromEntries(
    Object.entries(configurationOf(objects, one)).map(([variable, value]) => {
      if (!value.startsWith('/etc/pesewa/')) return [variable, value];
      const setting = variable.replace(/_FILE$/, '');
      const text = files[setting];
      if (text === undefined) throw new Error(`a test has nothing for ${setting}`);
      return [setting, text];
    }),
  );
}
