import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../command.ts';

/** A public API whose OpenAPI document is kept beside the documents for merchants. */
interface DocumentedApi {
  readonly file: string;
  readonly service: string;
}

/** The APIs that have a document, which their service's `openapi.ts` builds from its routes. */
export const documentedApis: readonly DocumentedApi[] = [
  { file: 'docs/api/payouts.openapi.json', service: 'payout-gateway' },
  { file: 'docs/api/collections.openapi.json', service: 'collection-gateway' },
];

/**
 * The document as text; undefined if the service builds none. Loaded at run time because no package may import a
 * service.
 */
export const renderOpenApi = async (api: DocumentedApi): Promise<string | undefined> => {
  const source = path.join(repositoryRoot, 'services', api.service, 'src', 'openapi.ts');
  const loaded: unknown = await import(pathToFileURL(source).href);
  if (typeof loaded !== 'object' || loaded === null || !('createOpenApiDocument' in loaded)) return undefined;
  const { createOpenApiDocument } = loaded;
  if (typeof createOpenApiDocument !== 'function') return undefined;
  const document = (createOpenApiDocument as () => unknown)();
  return `${JSON.stringify(document, null, 2)}\n`;
};
