// Fails on a document that names a path, package, command or identifier which does not exist, and on a citation of a section, an
// invariant or a decision that leads nowhere, in documents and in sources. Prints one line per dead reference.
// It checks the working directory, so that the tests can show it firing elsewhere.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Citable, deadCitations, readCitable } from './citations.ts';
import { listSourceFiles } from './source-files.ts';

/** First segments that make a quoted text a path of this repository. */
const topDirectories = new Set(['.ci', 'deploy', 'docs', 'packages', 'scripts', 'services', 'test']);

/** Commands of pnpm itself, which need no script. */
const pnpmCommands = new Set([
  'add',
  'audit',
  'config',
  'deploy',
  'dlx',
  'exec',
  'fetch',
  'install',
  'list',
  'outdated',
  'remove',
  'update',
  'why',
]);

/** Identifiers of MongoDB that documents name and no source has. */
const foreignIdentifiers = ['minSnapshotHistoryWindowInSeconds', 'movePrimary', 'tlsCertificateKeyFile'];

/** A word in camel case. */
const IDENTIFIER = /\b[a-z][a-z\d]*(?:[A-Z][a-z\d]*)+\b/g;

interface Names {
  readonly scripts: ReadonlySet<string>;
  readonly packages: ReadonlySet<string>;
  readonly identifiers: ReadonlySet<string>;
}

const readJson = (file: string): { name?: string; scripts?: Record<string, string> } =>
  // Manifests of this repository; a wrong shape shows as a missing script.
  JSON.parse(readFileSync(file, 'utf8')) as { name?: string; scripts?: Record<string, string> };

const readNames = (root: string, files: readonly string[]): Names => {
  const manifests = files.filter((file) => path.posix.basename(file) === 'package.json');
  const rootManifest = existsSync(path.join(root, 'package.json'))
    ? readJson(path.join(root, 'package.json'))
    : {};
  return {
    scripts: new Set(Object.keys(rootManifest.scripts ?? {})),
    packages: new Set(manifests.map((file) => readJson(path.join(root, file)).name ?? '')),
    identifiers: new Set([...foreignIdentifiers, ...readIdentifiers(root, files)]),
  };
};

/** The identifiers in all sources. */
const readIdentifiers = (root: string, files: readonly string[]): readonly string[] =>
  files
    .filter((file) => /\.(?:ts|yaml)$/.test(file))
    .flatMap((file) => readFileSync(path.join(root, file), 'utf8').match(IDENTIFIER) ?? []);

const isThere = (root: string, reference: string): boolean =>
  /[*{]/.test(reference)
    ? globSync(reference, { cwd: root }).length > 0
    : existsSync(path.join(root, reference));

/** The complaint about a quoted text that looks like a path or package of the repository and is neither. */
const deadQuote = (root: string, names: Names, quote: string): string | undefined => {
  const reference = quote.replace(/(?:#.*|:\d+(?:-\d+)?)$/, '').replace(/^\.\//, '');
  const packageName = /^@pesewa\/[\w-]+/.exec(reference)?.[0];
  if (packageName !== undefined)
    return names.packages.has(packageName) ? undefined : `no package ${packageName}`;
  const [first = '', ...rest] = reference.split('/');
  const isRootDocument = rest.length === 0 && /^[A-Z][A-Z_]+\.md$/.test(reference);
  const isPath = rest.length > 0 && topDirectories.has(first) && /^[\w./@*{},-]+$/.test(reference);
  if (!isRootDocument && !isPath) return undefined;
  return isThere(root, reference) ? undefined : `no file ${reference}`;
};

/** The complaints about identifiers in a quoted text that are in no source. */
const deadIdentifiers = (names: Names, quote: string): readonly string[] =>
  (quote.match(IDENTIFIER) ?? [])
    .filter((identifier) => !names.identifiers.has(identifier))
    .map((identifier) => `no source has ${identifier}`);

/** The anchors of a document's headings: their words in lower case, joined by hyphens. */
const anchorsOf = (markdown: string): ReadonlySet<string> => {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return new Set(headings.map((heading) => heading.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-')));
};

const deadLink = (root: string, document: string, target: string): string | undefined => {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [reference = '', anchor] = decodeURIComponent(target).split('#', 2);
  const file = reference === '' ? document : path.posix.join(path.posix.dirname(document), reference);
  if (!existsSync(path.join(root, file))) return `no file ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  const isAnchor = anchorsOf(readFileSync(path.join(root, file), 'utf8')).has(anchor);
  return isAnchor ? undefined : `no heading #${anchor} in ${file}`;
};

const deadCommands = (names: Names, code: string): readonly string[] => {
  const npm = [...code.matchAll(/\bnpm (?:run (?:-s |--silent )?([\w:-]+)|(start|test)\b)/g)];
  const pnpm = [...code.matchAll(/\bpnpm (run )?([a-z][\w:-]*)/g)];
  return [
    ...npm.map((match) => match[1] ?? match[2] ?? ''),
    ...pnpm.flatMap(([, run, name = '']) => (run === undefined && pnpmCommands.has(name) ? [] : [name])),
  ]
    .filter((name) => !names.scripts.has(name))
    .map((name) => `no script ${name} in package.json`);
};

const checkDocument = (root: string, names: Names, document: string): readonly string[] => {
  let fenced = false;
  return readFileSync(path.join(root, document), 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) fenced = !fenced;
      const quotes = fenced || isFence ? [] : [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
      const links = fenced
        ? []
        : [...line.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)].map((match) => match[1] ?? '');
      const code = fenced ? [line] : quotes;
      const dead = [
        ...quotes.map((quote) => deadQuote(root, names, quote)),
        ...quotes.flatMap((quote) => deadIdentifiers(names, quote)),
        ...links.map((target) => deadLink(root, document, target)),
        ...code.flatMap((text) => deadCommands(names, text)),
      ];
      return dead.filter((text) => text !== undefined).map((text) => `${document}:${index + 1}: ${text}`);
    });
};

const isDocument = (file: string): boolean =>
  /^(?:README|ARCHITECTURE|CONTRIBUTING|SECURITY)\.md$/.test(file) ||
  /^(?:docs|deploy)\/.*\.md$/.test(file) ||
  /^(?:packages|services|test)\/.*README\.md$/.test(file);

/** The owners' file names paths from the root, as patterns. */
const checkOwners = (root: string): readonly string[] =>
  readIfThere(path.join(root, 'CODEOWNERS'))
    .split('\n')
    .flatMap((line, index) => {
      const owned = /^\/(\S*[^\s/])\/?\s/.exec(line)?.[1];
      return owned === undefined || isThere(root, owned) ? [] : [`CODEOWNERS:${index + 1}: no file ${owned}`];
    });

const readIfThere = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

const findCitable = (root: string): Citable => {
  const decisions = path.join(root, 'docs/adr');
  return readCitable(
    readIfThere(path.join(root, 'docs/contract.md')),
    readIfThere(path.join(root, 'docs/invariants.md')),
    existsSync(decisions) ? readdirSync(decisions) : [],
  );
};

const checkCitations = (root: string, citable: Citable, file: string): readonly string[] =>
  deadCitations(file, readFileSync(path.join(root, file), 'utf8'), citable).map(
    ({ line, problem }) => `${file}:${line}: ${problem}`,
  );

const root = process.cwd();
const files = listSourceFiles(root);
const names = readNames(root, files);
const citable = findCitable(root);
const dead = [
  ...files.filter(isDocument).flatMap((document) => checkDocument(root, names, document)),
  ...files
    .filter((file) => isDocument(file) || file.endsWith('.ts'))
    .flatMap((file) => checkCitations(root, citable, file)),
  ...checkOwners(root),
];
process.stdout.write(dead.map((line) => `${line}\n`).join(''));
process.exitCode = dead.length === 0 ? 0 : 1;
