// Writes the generated documents: `docs/events.md` and `docs/events.asyncapi.json` from the contracts, each service's
// configuration table from its `config.ts`, the tables of error codes from the contracts, the public OpenAPI documents from the
// routes' own operations, and the lists of operator APIs in the services' READMEs from the contracts. With `--check` nothing is
// written: each file that differs is named, and the exit code is 1.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { serviceNames } from '@pesewa/contracts';
import { repositoryRoot } from './command.ts';
import { renderAsyncApi } from './docs/asyncapi.ts';
import { commonSettingsOf, renderCommonSettings, renderConfiguration } from './docs/configuration.ts';
import { errorTables } from './docs/error-codes.ts';
import { renderEvents } from './docs/events.ts';
import { replaceBlock } from './docs/markdown.ts';
import { operatedServices, renderOperatorApi, renderOperatorOverview } from './docs/operator-apis.ts';
import { loadModule, loadSettings } from './docs/services.ts';
import { renderTestNumbers } from './docs/test-numbers.ts';

const read = (file: string): string => {
  const absolute = path.join(repositoryRoot, file);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : '';
};

const names = serviceNames.toSorted();
const settingsOf = new Map(
  await Promise.all(names.map(async (name) => [name, await loadSettings(name)] as const)),
);
const commonSettings = commonSettingsOf(settingsOf);

/** The generated tables in documents that people write, by document and the name of their markers. */
const blocks: Record<string, Readonly<Record<string, string>>> = { ...errorTables };
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

const generated: Readonly<Record<string, string>> = {
  'docs/events.md': renderEvents(),
  'docs/events.asyncapi.json': renderAsyncApi(),
  'docs/settings.md': renderCommonSettings(commonSettings, names),
  'docs/api/payouts.openapi.json': await renderOpenApi('payout-gateway'),
  'docs/api/collections.openapi.json': await renderOpenApi('collection-gateway'),
  'docs/operators/README.md': renderOperatorOverview(),
  ...Object.fromEntries(
    Object.entries(blocks).map(([file, own]) => [
      file,
      Object.entries(own).reduce((text, [name, block]) => replaceBlock(text, name, block, file), read(file)),
    ]),
  ),
};

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
for (const [file, text] of Object.entries(generated)) {
  if (read(file) === text) continue;
  if (!values.check) writeFileSync(path.join(repositoryRoot, file), text);
  else process.exitCode = 1;
  process.stdout.write(
    values.check ? `${file} differs from what it is generated from: run npm run docs\n` : `${file} written\n`,
  );
}
