// Writes the generated documents: `docs/events.md` and `docs/events.asyncapi.json` from the contracts, each service's
// configuration table from its `config.ts`, the tables of error codes from the contracts, the table of crash points from the
// places of these in the code, the OpenAPI documents from the routes' own operations, and the lists of operator APIs in the
// services' READMEs from the contracts. With `--check` nothing is written: each file that differs is named, and the exit code
// is 1.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from './command.ts';
import { renderAsyncApi } from './docs/asyncapi.ts';
import {
  commonSettingsOf,
  renderCommonSettings,
  renderConfiguration,
  type Settings,
} from './docs/configuration.ts';
import { renderCrashPoints } from './docs/crash-points.ts';
import { errorTables } from './docs/error-codes.ts';
import { renderEvents } from './docs/events.ts';
import { replaceBlock } from './docs/markdown.ts';
import { documentedApis, renderOpenApi } from './docs/openapi.ts';
import { operatedServices, renderOperatorApi, renderOperatorOverview } from './docs/operator-apis.ts';
import { loadSettings, serviceNames } from './docs/services.ts';
import { renderTestNumbers } from './docs/test-numbers.ts';

interface Generated {
  readonly file: string;
  /** The file's intended content, or why it can't be made. */
  readonly content:
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly why: string };
}

const read = (file: string): string | undefined => {
  const absolute = path.join(repositoryRoot, file);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : undefined;
};

/** A present document with each text between the markers of its name. */
const generateBlocks = (file: string, blocks: Readonly<Record<string, string>>): Generated => {
  let text = read(file);
  if (text === undefined) return { file, content: { ok: false, why: 'is missing' } };
  for (const [name, block] of Object.entries(blocks)) {
    text = replaceBlock(text, name, block);
    if (text === undefined) {
      const why = `lacks the lines <!-- ${name}:begin --> and <!-- ${name}:end -->`;
      return { file, content: { ok: false, why } };
    }
  }
  return { file, content: { ok: true, text } };
};

const settingsOf = new Map<string, Settings>();
for (const service of serviceNames()) {
  const settings = await loadSettings(service);
  if (settings !== undefined) settingsOf.set(service, settings);
}
const commonSettings = commonSettingsOf(settingsOf);

const generateReadme = async (service: string): Promise<Generated> => {
  const file = `services/${service}/README.md`;
  const settings = settingsOf.get(service);
  if (settings === undefined) {
    return {
      file,
      content: { ok: false, why: 'has no source: config.ts of the service exports no settings' },
    };
  }
  const operated = operatedServices.find((name) => name === service);
  return generateBlocks(file, {
    configuration: renderConfiguration(settings, commonSettings),
    ...(operated && { 'operator-api': renderOperatorApi(operated) }),
    ...(service === 'provider-simulator' && { 'test-numbers': renderTestNumbers() }),
  });
};

const generateOpenApi = async (api: (typeof documentedApis)[number]): Promise<Generated> => {
  const text = await renderOpenApi(api);
  if (text !== undefined) return { file: api.file, content: { ok: true, text } };
  const why = `has no source: openapi.ts of ${api.service} exports no createOpenApiDocument`;
  return { file: api.file, content: { ok: false, why } };
};

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const generated: readonly Generated[] = [
  { file: 'docs/events.md', content: { ok: true, text: renderEvents() } },
  { file: 'docs/events.asyncapi.json', content: { ok: true, text: renderAsyncApi() } },
  {
    file: 'docs/settings.md',
    content: { ok: true, text: renderCommonSettings(commonSettings, [...settingsOf.keys()]) },
  },
  ...errorTables.map(({ file, tables }) => generateBlocks(file, tables)),
  generateBlocks('docs/crash-points.md', { 'crash-points': renderCrashPoints() }),
  ...(await Promise.all(serviceNames().map(generateReadme))),
  ...(await Promise.all(documentedApis.map(generateOpenApi))),
  { file: 'docs/operators/README.md', content: { ok: true, text: renderOperatorOverview() } },
];

let complaints = 0;
const printError = (file: string, why: string): void => {
  complaints += 1;
  process.stdout.write(`${file} ${why}\n`);
};

for (const { file, content } of generated) {
  if (!content.ok) {
    printError(file, content.why);
  } else if (read(file) !== content.text) {
    if (values.check) {
      printError(file, 'differs from what it is generated from: run npm run docs');
    } else {
      mkdirSync(path.dirname(path.join(repositoryRoot, file)), { recursive: true });
      writeFileSync(path.join(repositoryRoot, file), content.text);
      process.stdout.write(`${file} written\n`);
    }
  }
}
process.exitCode = complaints === 0 ? 0 : 1;
