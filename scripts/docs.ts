// Writes the generated documents, and the generated parts of written ones: events, error codes and operator APIs from the
// contracts, settings from each service's `config.ts`, the public OpenAPI documents from the routes' own operations. With
// `--check` nothing is written: each file that differs is named, and the exit code is 1.
import {
  collectionRefusals,
  type ErrorCode,
  ORDINARY_NUMBER,
  payoutCodes,
  serviceNames,
  testNumbers,
} from '@pesewa/contracts';
import { createAsyncApiDocument } from './docs/asyncapi.ts';
import { commonSettingsOf, renderCommonSettings, renderConfiguration } from './docs/configuration.ts';
import { renderEvents } from './docs/events.ts';
import { renderTable, replaceBlock } from './docs/markdown.ts';
import { operatedServices, renderOperatorApi, renderOperatorOverview } from './docs/operator-apis.ts';
import { loadModule, loadSettings } from './docs/settings.ts';
import { readGenerated, writeGenerated } from './generated.ts';

const names = serviceNames.toSorted();
const settingsOf = new Map(
  await Promise.all(names.map(async (name) => [name, await loadSettings(name)] as const)),
);
const commonSettings = commonSettingsOf(settingsOf);

type Named = readonly (readonly [code: string, terms: ErrorCode])[];

const payouts: Named = Object.values(payoutCodes).map((terms) => [terms.code, terms]);
const collections: Named = Object.entries(collectionRefusals);

const cellsOf = ([code, { meaning, definitive, remedy }]: Named[number]) =>
  [`\`${code}\``, meaning, definitive ? 'yes' : '–', remedy] as const;

const forMerchants = (title: string, codes: Named) =>
  renderTable([title, 'meaning', 'final', 'what to do'], codes.map(cellsOf));

/** The codes that an operator can do something about; the merchants' pages have the rest. */
const forOperators = (title: string, codes: Named) =>
  renderTable(
    [title, 'meaning', 'what the operator does'],
    codes.flatMap(([code, { meaning, operator }]) =>
      operator === undefined ? [] : [[`\`${code}\``, meaning, operator]],
    ),
  );

/** The tables of error codes, by document and the name of their markers in it. */
const errorTables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/api/errors.md': { 'payout-codes': forMerchants('code', payouts) },
  'docs/api/collections.md': { 'collection-refusals': forMerchants('failedReason', collections) },
  'docs/failure-modes.md': {
    'payout-codes': forOperators('code', payouts),
    'collection-refusals': forOperators('failedReason', collections),
  },
};

/** What the simulator does, by the last four digits of a number. */
const testNumberList = [`- others: ${ORDINARY_NUMBER}\n`]
  .concat(Object.entries(testNumbers).map(([digits, words]) => `- \`${digits}\`: ${words}\n`))
  .join('');

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
    ...(name === 'provider-simulator' && { 'test-numbers': testNumberList }),
  };
}

const toJson = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`;

const renderOpenApi = async (service: string): Promise<string> => {
  const { createOpenApiDocument } = await loadModule<{ readonly createOpenApiDocument: () => unknown }>(
    service,
    'openapi.ts',
  );
  return toJson(createOpenApiDocument());
};

const withBlocks = (file: string, own: Readonly<Record<string, string>>): string =>
  Object.entries(own).reduce(
    (text, [name, block]) => replaceBlock(text, name, block, file),
    readGenerated(file),
  );

const files = {
  'docs/events.asyncapi.json': toJson(createAsyncApiDocument()),
  'docs/api/payouts.openapi.json': await renderOpenApi('payout-gateway'),
  'docs/api/collections.openapi.json': await renderOpenApi('collection-gateway'),
  ...Object.fromEntries(Object.entries(blocks).map(([file, own]) => [file, withBlocks(file, own)])),
};
writeGenerated(files, 'docs');
