// House rules that no other tool checks. Prints one line per breach; exit code 1 if there is any.
// It checks the working directory, so that the tests can show each rule firing elsewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listSourceFiles } from './source-files.ts';

interface Rule {
  readonly applies: (file: string) => boolean;
  readonly pattern: RegExp;
  readonly advice: string;
  /** Allowed where a comment on the same line or the one above, or a `reason` in the title, says why. */
  readonly excusable?: boolean;
}

const isCode = (file: string): boolean => /\.(ts|mjs|js)$/.test(file);
const isTest = (file: string): boolean => file.endsWith('.test.ts') || file.startsWith('test/');
const isProduct = (file: string): boolean => /^(packages|services)\/.*\.ts$/.test(file) && !isTest(file);
/** The readers that bound a body, the console's forms, which a middleware bounds, and the stand-in for a rail. */
const mayReadBodies = (file: string): boolean =>
  /^packages\/runtime\/src\/(?:bodies|uploads)\.ts$|^services\/(?:console\/src\/app\.ts$|provider-simulator\/)/.test(
    file,
  );
/** The console's templates; its one helper file writes what they may not. */
const isTemplate = (file: string): boolean =>
  file.startsWith('services/console/src/') && isProduct(file) && !file.endsWith('/view/html.ts');
const isText = (file: string): boolean => /\.(ts|mjs|js|json|md|ya?ml|html|css|sh)$/.test(file);

// Patterns that would match themselves are written with a character class.
const rules: readonly Rule[] = [
  {
    applies: isText,
    pattern: /\b(?:TO[D]O|FIX[M]E)\b/,
    advice: 'no reminders in the source: do it, or open an issue',
  },
  {
    applies: isText,
    pattern: /^(?:<{7}|>{7})/,
    advice: 'a conflict of a merge is left: resolve it',
  },
  {
    applies: isTest,
    pattern: /\b(?:describe|it|test|suite)(?:\.\w+)*\.(?:only|skip|todo)\b/,
    advice: 'no test is left out: remove it or make it pass',
  },
  {
    applies: isTest,
    pattern: /\.(?:skip|run)If\(/,
    advice:
      'say in a comment above, or by a `reason` in the title, why this test depends on its surroundings',
    excusable: true,
  },
  {
    applies: isTest,
    pattern: /\bsetTimeout\b|timers\/promises/,
    advice: 'no sleeping in tests: wait for a condition with a deadline',
  },
  {
    applies: (file) => (isCode(file) || /\.(md|json)$/.test(file)) && !file.startsWith('deploy/'),
    pattern: /(?<![\w.@}/-])\/(?:root|tmp|work|(?:home|Users)\/(?!node\b)\w+)\//,
    advice: 'no path of one machine',
  },
  {
    applies: (file) => isProduct(file) || file.startsWith('scripts/'),
    pattern: /^\s*(?:export\s+)?(?:abstract\s+)?class\s+\w+(?!.*\bextends\s+\w*Error\b)/,
    advice: 'no classes but errors: write a function createX(deps) that returns an object of functions',
  },
  {
    applies: (file) => isProduct(file) && !file.startsWith('packages/infrastructure/'),
    pattern: /\bparseFloat\(|\.toFixed\(/,
    advice: 'no floats near money: use Money, or format with Intl.NumberFormat',
  },
  {
    applies: (file) => isProduct(file) && !mayReadBodies(file),
    pattern: /\breq\.(?:json|text|parseBody|arrayBuffer|blob|formData|raw\.(?:body\b|\w+\())/,
    advice: 'read a body with readJsonBody, readJsonText, readBytes or readUpload: they bound and check it',
  },
  {
    applies: (file) =>
      isProduct(file) && !/\/fixtures\/|\/runtime\/src\/(?:serve-)?operations\.ts$/.test(file),
    pattern: /\boperator\.(?:get|post|put|delete|patch|all|on)\(/,
    advice: 'declare operator routes and mount them with serveOperations, which checks the role and records',
  },
  {
    applies: isTemplate,
    pattern: /(?<![.\w])raw\(|\braw\b.*'hono\/html'/,
    advice: 'no text goes into a page unescaped: use html`…`, or a helper of view/html.ts',
  },
  {
    applies: isTemplate,
    pattern: /\bstyle=|['"\s]on[a-z]+=/i,
    advice: 'the policy of the pages refuses styles and handlers in markup: use style.css or app.js',
  },
  {
    applies: isTemplate,
    pattern: /\bhx-[\w:-]+(?:=|['"]?\s*:)/,
    advice: 'attributes of htmx come from hx of view/html.ts, which gives them the nonce of the page',
  },
  {
    applies: (file) => file.startsWith('services/console/src/assets/'),
    pattern: /\b(?:(?:inner|outer)HTML|insertAdjacentHTML|document\.write)\b/,
    advice: 'no markup from text in a browser: use textContent or createElement',
  },
];

const isExcused = (lines: readonly string[], index: number): boolean =>
  /(?:^|\s)\/\/ |\breason\b/.test(lines[index] ?? '') ||
  /^\s*(?:\/\/|\*|\/\*\*)/.test(lines[index - 1] ?? '');

const lineBreaches = (file: string, lines: readonly string[]): readonly string[] =>
  rules
    .filter((rule) => rule.applies(file))
    .flatMap((rule) =>
      lines.flatMap((line, index) => {
        if (!rule.pattern.test(line)) return [];
        if (rule.excusable === true && isExcused(lines, index)) return [];
        return [`${file}:${index + 1}: ${rule.advice}`];
      }),
    );

const linesMax = (file: string): number => {
  if (/^services\/.*\/(?:main|service)\.ts$/.test(file)) return 60;
  return 300;
};

const shapeBreaches = (file: string, lines: readonly string[]): readonly string[] => {
  if (!isCode(file)) return [];
  const breaches: string[] = [];
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  if (count > linesMax(file))
    breaches.push(`${file}: ${count} lines, at most ${linesMax(file)}: split it by purpose`);
  if (/(?:^|\/)index\.ts$/.test(file) && !/^packages\/[^/]+\/src\/index\.ts$/.test(file)) {
    breaches.push(`${file}: only a package's front door is called index.ts: name the file by what it holds`);
  }
  return breaches;
};

const checkTidy = (root: string): readonly string[] =>
  listSourceFiles(root).flatMap((file) => {
    if (!isText(file)) return [];
    const lines = readFileSync(path.join(root, file), 'utf8').split('\n');
    return [...lineBreaches(file, lines), ...shapeBreaches(file, lines)];
  });

const breaches = checkTidy(process.cwd());
process.stdout.write(breaches.map((breach) => `${breach}\n`).join(''));
process.exitCode = breaches.length === 0 ? 0 : 1;
