import type { MessagingService } from '@pesewa/contracts';
import { isSecret, type Settings } from '../../docs/configuration.ts';
import { listAt, ofKind, type Rendered } from './rendered.ts';
import { configurationOf } from './services.ts';

/** What is called so is secret; a public key is not. */
export const secretName = /(?:PASSWORD|TOKEN|SECRET|(?<!PUBLIC)_KEY|MONGODB_URL|RAILS|OPERATORS)$/;

/** Settings whose names say that they are secret, and that are not marked so. */
export const unmarkedSecrets = (settings: Settings): readonly string[] =>
  Object.entries(settings)
    .filter(([name, setting]) => secretName.test(name) && !isSecret(setting))
    .map(([name]) => name);

/** The environment that a service starts with, its files put in place by what a test has for them. */
export function startEnvironment(
  objects: readonly Rendered[],
  name: MessagingService | 'provider-simulator',
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
