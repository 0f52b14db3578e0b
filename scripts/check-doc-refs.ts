// Fails on a document that names a path, package, command or identifier which does not exist, and on a citation of a section, an
// invariant or a decision that leads nowhere, in documents and in sources. Prints one line per dead reference.
// It checks the working directory, so that the tests can show it firing elsewhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listSourceFiles } from './source-files.ts';

const root = process.cwd();
const files = listSourceFiles(root);
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const isThere = (reference: string): boolean =>
  existsSync(path.join(root, reference)) || globSync(reference, { cwd: root }).length > 0;
/** The first groups of all matches in a text. */
const all = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((match) => match[1] ?? '');

/** Commands of pnpm itself, which need no script. */
const PNPM = 'add audit config deploy dlx exec fetch install list outdated remove update why'.split(' ');
/** Identifiers of MongoDB that documents name and no source has. */
const FOREIGN = ['minSnapshotHistoryWindowInSeconds', 'movePrimary', 'tlsCertificateKeyFile'];
/** A word in camel case. */
const IDENTIFIER = /\b([a-z][a-z\d]*(?:[A-Z][a-z\d]*)+)\b/g;
/** Quoted texts that are paths of this repository, patterns included. */
const PATH = /^(?:(?:\.ci|deploy|docs|packages|scripts|services|test)\/[\w./@*{},-]+|[A-Z][A-Z_]+\.md)$/;

// Manifests of this repository; a wrong shape shows as a missing name.
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Record<string, string> };
const manifests = files.filter((file) => path.basename(file) === 'package.json').map(read);
const packages = new Set(manifests.map((text) => (JSON.parse(text) as { readonly name?: string }).name));
const sources = files.filter((file) => /\.(?:ts|yaml)$/.test(file)).map(read);
const identifiers = new Set([...FOREIGN, ...sources.flatMap((text) => all(text, IDENTIFIER))]);

/** Why a reference is dead; nothing if it leads somewhere. */
type Problem = string | false | undefined;

function problemOfQuote(quote: string): Problem {
  const reference = quote.replace(/(?:#.*|:\d+(?:-\d+)?)$/, '').replace(/^\.\//, '');
  const named = /^@pesewa\/[\w-]+/.exec(reference)?.[0];
  if (named !== undefined) return !packages.has(named) && `no package ${named}`;
  return PATH.test(reference) && !isThere(reference) && `no file ${reference}`;
}

/** Headings are linked by their words in lower case, joined by hyphens. */
function problemOfLink(document: string, target: string): Problem {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [reference = '', anchor] = decodeURIComponent(target).split('#', 2);
  const file = reference === '' ? document : path.posix.join(path.posix.dirname(document), reference);
  if (!isThere(file)) return `no file ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return undefined;
  const anchors = all(read(file), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return !anchors.includes(anchor) && `no heading #${anchor} in ${file}`;
}

const problemsOfCommands = (code: string): readonly Problem[] =>
  [
    ...all(code, /\bnpm (start|test)\b/g),
    ...all(code, /\bp?npm run (?:-s |--silent )?([\w:-]+)/g),
    ...all(code, /\bpnpm (?!run )([a-z][\w:-]*)/g).filter((name) => !PNPM.includes(name)),
  ].map((name) => scripts[name] === undefined && `no script ${name} in package.json`);

function problemsOfDocument(document: string): readonly string[] {
  let isCode = false;
  return read(document)
    .split('\n')
    .flatMap((line, index) => {
      const isFence = /^\s*(?:```|~~~)/.test(line);
      if (isFence) isCode = !isCode;
      const quotes = isCode || isFence ? [] : all(line, /`([^`]+)`/g);
      const links = isCode ? [] : all(line, /\]\(<?([^)\s>]+)>?[^)]*\)/g);
      const names = quotes.flatMap((quote) => all(quote, IDENTIFIER));
      const problems = [
        ...quotes.map(problemOfQuote),
        ...names.map((name) => !identifiers.has(name) && `no source has ${name}`),
        ...links.map((target) => problemOfLink(document, target)),
        ...(isCode ? [line] : quotes).flatMap(problemsOfCommands),
      ];
      return problems.filter(Boolean).map((problem) => `${document}:${index + 1}: ${problem}`);
    });
}

/** What may be cited, by its number, and the words for what is not there. */
const citable = {
  section: [
    'docs/contract.md has no section',
    all(read('docs/contract.md'), /^#{2,3} (\d+(?:\.\d+)?)\.? /gm),
  ],
  decision: ['docs/adr has no ADR', files.flatMap((file) => all(file, /^docs\/adr\/0*(\d+)-/g))],
  invariant: ['docs/invariants.md has no', all(read('docs/invariants.md'), /^\| ([A-Z]\d+) \|/gm)],
  document: ['this repository has no', []],
} as const satisfies Record<string, readonly [words: string, numbers: readonly string[]]>;
const CITATION =
  /\bcontract +(?<section>\d+(?:\.\d+)?(?:(?:, +| +and +| +to +|–)\d+(?:\.\d+)?(?![\w.]*\w))*)|\bADR +0*(?<decision>\d+)\b|(?:\binvariant +|(?<=[\s'"`]\())(?<invariant>[PLXRWIET]\d+(?:(?:, | to )[PLXRWIET]\d+)*)(?=[\s).,;:'"`]|$)|\b(?<document>(?:the )?design (?:§ ?)?\d+|research\/)/g;

/** The dead citations of a file; what they cite may stand at the beginning of the next line. */
function problemsOfCitations(file: string): readonly string[] {
  const text = read(file);
  const joined = text.replaceAll(/\n[ \t]*(?:\*(?!\/)|\/\/)?/g, (end) => ' '.repeat(end.length));
  return [...joined.matchAll(CITATION)].flatMap(({ groups = {}, index }) =>
    Object.entries(citable).flatMap(([kind, [words, numbers]]) =>
      all(groups[kind] ?? '', kind === 'document' ? /(.+)/g : /([A-Z]?\d+(?:\.\d+)?)/g)
        .filter((cited) => !(numbers as readonly string[]).includes(cited))
        .map((cited) => `${file}:${text.slice(0, index).split('\n').length}: ${words} ${cited}`),
    ),
  );
}

const documents = files.filter((file) =>
  /^(?:(?:README|ARCHITECTURE|CONTRIBUTING|SECURITY)\.md|(?:docs|deploy)\/.*\.md|(?:packages|services|test)\/.*README\.md)$/.test(
    file,
  ),
);
/** The owners' file names paths from the root, as patterns. */
const owned = all(read('CODEOWNERS'), /^\/(\S*[^\s/])\/?\s/gm);
const dead = [
  ...documents.flatMap(problemsOfDocument),
  ...[...documents, ...files.filter((file) => file.endsWith('.ts'))].flatMap(problemsOfCitations),
  ...owned.filter((name) => !isThere(name)).map((name) => `CODEOWNERS: no file ${name}`),
];
process.stdout.write(dead.map((line) => `${line}\n`).join(''));
process.exitCode = dead.length === 0 ? 0 : 1;
