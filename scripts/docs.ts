// Writes the generated documents, and the generated parts of written ones: events, error codes and operator APIs from the
// contracts, settings from each service's `config.ts`, the public OpenAPI documents from the routes' own operations. With
// `--check` nothing is written: each file that differs is named, and the exit code is 1.
import { serviceNames } from '@pesewa/contracts';
import { renderAsyncApi } from './docs/asyncapi.ts';
import { commonSettingsOf, renderCommonSettings, renderConfiguration } from './docs/configuration.ts';
import { errorTables } from './docs/error-codes.ts';
import { renderEvents } from './docs/events.ts';
import { replaceBlock } from './docs/markdown.ts';
import { operatedServices, renderOperatorApi, renderOperatorOverview } from './docs/operator-apis.ts';
import { loadModule, loadSettings } from './docs/settings.ts';
import { renderTestNumbers } from './docs/test-numbers.ts';
import { readGenerated, writeGenerated } from './generated.ts';

const names = serviceNames.toSorted();
const settingsOf = new Map(
  await Promise.all(names.map(async (name) => [name, await loadSettings(name)] as const)),
);
const commonSettings = commonSettingsOf(settingsOf);

/** The generated tables in documents that people write, by document and the name of their markers. */
const blocks: Record<string, Readonly<Record<string, string>>> = {
  ...errorTables,
  'docs/events.md': renderEvents(),
  'docs/settings.md': { settings: renderCommonSettings(commonSettings, names) },
  'docs/operators/README.md': renderOperatorOverview(),
};
for (const [name, settings] of settingsOf) {
  const operated = operatedServices.find((one) => one === name);
  blocks[`services/${name}/README.md`] = {
    configuration: renderConfiguration(settings, commonSettings),
    ...(operated && { 'operator-api': renderOperatorApi(operated) }),
    ...(name === 'provider-simulator' && { 'test-numbers': renderTestNumbers() }),
  };
}

const renderOpenApi = async (service: string): Promise<string> => {
  const { createOpenApiDocument } = await loadModule<{ readonly createOpenApiDocument: () => unknown }>(
    service,
    'openapi.ts',
  );
  return `${JSON.stringify(createOpenApiDocument(), null, 2)}\n`;
};

const withBlocks = (file: string, own: Readonly<Record<string, string>>): string =>
  Object.entries(own).reduce(
    (text, [name, block]) => replaceBlock(text, name, block, file),
    readGenerated(file),
  );

const files = {
  'docs/events.asyncapi.json': renderAsyncApi(),
  'docs/api/payouts.openapi.json': await renderOpenApi('payout-gateway'),
  'docs/api/collections.openapi.json': await renderOpenApi('collection-gateway'),
  ...Object.fromEntries(Object.entries(blocks).map(([file, own]) => [file, withBlocks(file, own)])),
};
writeGenerated(files, 'docs');
