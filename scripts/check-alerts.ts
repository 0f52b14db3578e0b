// Fails on an alert rule over a metric that no service registers, on a rule without its runbook, and on a runbook that no
// rule names. Prints one line per breach. It checks the working directory, so that the tests can show it firing elsewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { listSourceFiles } from './source-files.ts';

interface Rule {
  readonly alert?: string;
  readonly expr?: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook?: string };
}

interface RuleFile {
  readonly groups?: readonly { readonly rules?: readonly Rule[] }[];
}

const RULES = /^deploy\/monitoring\/.*\.rules\.yaml$/;
const RUNBOOK = /^docs\/runbooks\/(?!README).*\.md$/;
const PRODUCT = /^(?:packages|services)\/[^/]+\/src\/.*(?<!\.test)\.ts$/;

/** Told by Prometheus itself. */
const ownMetrics = ['up'];
/** Words of PromQL that are no metric. */
const words = new Set(
  'and or unless by without on ignoring group_left group_right bool offset inf nan'.split(' '),
);
/** What Prometheus makes of one histogram. */
const HISTOGRAM_SUFFIX = /_(?:bucket|sum|count)$/;

const root = process.cwd();
const files = listSourceFiles(root);
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** Every name in a file that registers metrics: what is no metric among them is never asked for. */
const registered = new Set([
  ...ownMetrics,
  ...files
    .filter((file) => PRODUCT.test(file))
    .map(read)
    .filter((text) => text.includes("'prom-client'"))
    .flatMap((text) => [...text.matchAll(/'([a-z][a-z0-9_]*)'/g)].map((match) => match[1] ?? '')),
]);

/** The metrics that a PromQL expression names. */
const metricsOf = (expression: string): readonly string[] => {
  const bare = expression
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, ' ')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\boffset\s+\w+/g, ' ');
  const names = [...bare.matchAll(/(?<![\w.])[a-z_:][\w:]*(?!\w)(?!\s*\()/gi)].map(([name]) => name);
  return names.filter((name) => !words.has(name.toLowerCase()));
};

/** The runbook of an alert is called as the alert is. */
const runbookOf = (alert: string): string =>
  `docs/runbooks/${alert.replaceAll(/(?<=.)(?=[A-Z])/g, '-').toLowerCase()}.md`;

const checkRule = (rule: Rule): readonly string[] => {
  const { alert = '', expr = '', labels, annotations } = rule;
  const runbook = runbookOf(alert);
  const metrics = metricsOf(expr);
  const unknown = metrics.filter(
    (name) => !registered.has(name) && !registered.has(name.replace(HISTOGRAM_SUFFIX, '')),
  );
  return [
    ...(metrics.length === 0 ? ['asks for no metric'] : []),
    ...[...new Set(unknown)].map((name) => `no service registers ${name}`),
    ...(['page', 'ticket'].includes(labels?.severity ?? '')
      ? []
      : ['its severity is neither page nor ticket']),
    ...(annotations?.summary === undefined ? ['has no summary'] : []),
    ...(annotations?.runbook === runbook ? [] : [`its runbook must be ${runbook}`]),
    ...(files.includes(runbook) ? [] : [`no file ${runbook}`]),
  ].map((breach) => `${alert} ${breach}`);
};

const ruleFiles = files.filter((file) => RULES.test(file));
const rulesByFile = ruleFiles.map((file) => {
  // A wrong shape shows as a rule without what it needs.
  const { groups = [] } = parse(read(file)) as RuleFile;
  return { file, rules: groups.flatMap(({ rules = [] }) => rules) };
});
const named = new Set(rulesByFile.flatMap(({ rules }) => rules.map(({ alert = '' }) => runbookOf(alert))));
const breaches = [
  ...rulesByFile.flatMap(({ file, rules }) => rules.flatMap(checkRule).map((breach) => `${file}: ${breach}`)),
  ...rulesByFile.filter(({ rules }) => rules.length === 0).map(({ file }) => `${file}: has no rules`),
  ...files
    .filter((file) => RUNBOOK.test(file) && !named.has(file))
    .map((file) => `${file}: no rule names this runbook`),
];

for (const breach of breaches) process.stdout.write(`${breach}\n`);
if (breaches.length > 0) process.exitCode = 1;
