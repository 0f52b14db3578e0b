import path from 'node:path';
import { repositoryRoot } from '../command.ts';
import type { Settings } from './configuration.ts';

/** A module of a service, loaded at run time because no package may import a service; the caller knows its exports. */
export const loadModule = async <Exports>(service: string, file: string): Promise<Exports> =>
  (await import(path.join(repositoryRoot, 'services', service, 'src', file))) as Exports;

/** A zod object, perhaps inside transforms. */
interface Schema {
  readonly shape?: Settings;
  readonly def?: { readonly in?: Schema };
}

const shapeOf = (schema?: Schema): Settings | undefined =>
  schema && (schema.shape ?? shapeOf(schema.def?.in));

/** The settings that a service's `config.ts` exports. */
export const loadSettings = async (service: string): Promise<Settings> => {
  const { settings, configSchema } = await loadModule<{ settings?: Schema; configSchema?: Schema }>(
    service,
    'config.ts',
  );
  const shape = shapeOf(settings ?? configSchema);
  if (!shape) throw new Error(`services/${service}/src/config.ts exports no settings`);
  return shape;
};
