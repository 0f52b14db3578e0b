// House rules that no other tool checks. Prints one line per breach; exit code 1 if there is any.
// It checks the working directory, so that the tests can show each rule firing elsewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { listSourceFiles } from './source-files.ts';

const TEXT = /\.(?:ts|mjs|js|json|md|ya?ml|html|css|sh)$/;
const TEST = /\.test\.ts$|^test\/.*\.(?:ts|mjs|js|json|md|ya?ml|html|css|sh)$/;
const PRODUCT = /^(?:packages|services)\/(?!.*\.test\.ts$).*\.ts$/;
/** The console's templates; its one helper file writes what they may not. */
const TEMPLATE = /^services\/console\/src\/(?!view\/html\.ts$|.*\.test\.ts$).*\.ts$/;

/**
 * In which files a pattern must not stand, and what to do instead. Patterns that would match themselves are written with a
 * character class.
 */
const rules: readonly (readonly [files: RegExp, pattern: RegExp, advice: string, others?: RegExp])[] = [
  [TEXT, /\b(?:TO[D]O|FIX[M]E)\b/, 'no reminders in the source: do it, or open an issue'],
  [TEXT, /^(?:<{7}|>{7})/, 'a conflict of a merge is left: resolve it'],
  [TEST, /\bsetTimeout\b|timers\/promises/, 'no sleeping in tests: wait for a condition with a deadline'],
  [
    /^(?!deploy\/).*\.(?:ts|mjs|js|md|json)$/,
    /(?<![\w.@}/-])\/(?:root|tmp|work|(?:home|Users)\/(?!node\b)\w+)\//,
    'no path of one machine',
  ],
  [
    /^scripts\/|^(?:packages|services)\/(?!.*\.test\.ts$).*\.ts$/,
    /^\s*(?:export\s+)?(?:abstract\s+)?class\s+\w+(?!.*\bextends\s+\w*Error\b)/,
    'no classes but errors: write a function createX(deps) that returns an object of functions',
  ],
  [
    PRODUCT,
    /\bparseFloat\(|\.toFixed\(/,
    'no floats near money: use Money, or format with Intl.NumberFormat',
    /^packages\/infrastructure\//,
  ],
  [
    PRODUCT,
    /\breq\.(?:json|text|parseBody|arrayBuffer|blob|formData|raw\.(?:body\b|\w+\())/,
    'read a body with readJsonBody, readJsonText, readBytes or readUpload: they bound and check it',
    // The readers that bound a body, the console's forms, which a middleware bounds, and the stand-in for a rail.
    /^packages\/runtime\/src\/(?:bodies|uploads)\.ts$|^services\/(?:console\/src\/app\.ts$|provider-simulator\/)/,
  ],
  [
    PRODUCT,
    /\boperator\.(?:get|post|put|delete|patch|all|on)\(/,
    'declare operator routes and mount them with serveOperations, which checks the role and records',
    /\/fixtures\/|\/runtime\/src\/(?:serve-)?operations\.ts$/,
  ],
  [
    TEMPLATE,
    /(?<![.\w])raw\(|\braw\b.*'hono\/html'/,
    'no text goes into a page unescaped: use html`…`, or a helper of view/html.ts',
  ],
  [
    TEMPLATE,
    /\bstyle=|['"\s]on[a-z]+=/i,
    'the policy of the pages refuses styles and handlers in markup: use style.css or app.js',
  ],
  [
    TEMPLATE,
    /\bhx-[\w:-]+(?:=|['"]?\s*:)/,
    'attributes of htmx come from hx of view/html.ts, which gives them the nonce of the page',
  ],
  [
    /^services\/console\/src\/assets\//,
    /\b(?:(?:inner|outer)HTML|insertAdjacentHTML|document\.write)\b/,
    'no markup from text in a browser: use textContent or createElement',
  ],
];

const breaches = listSourceFiles(process.cwd()).flatMap((file) => {
  const own = rules.filter(([files, , , others]) => files.test(file) && !others?.test(file));
  if (own.length === 0) return [];
  const lines = readFileSync(path.join(process.cwd(), file), 'utf8').split('\n');
  const isMisnamed = /(?:^|\/)(?<!^packages\/[^/]+\/src\/)index\.ts$/.test(file);
  return [
    ...lines.flatMap((line, index) =>
      own
        .filter(([, pattern]) => pattern.test(line))
        .map(([, , advice]) => `${file}:${index + 1}: ${advice}`),
    ),
    ...(isMisnamed ? [`${file}: only a package's front door is called index.ts`] : []),
  ];
});
process.stdout.write(breaches.map((breach) => `${breach}\n`).join(''));
process.exitCode = breaches.length === 0 ? 0 : 1;
