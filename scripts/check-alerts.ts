// Fails on an alert rule or a panel over a metric that no service registers, on an expression that can't be read, on a rule
// without its runbook or without tests that see it fire and stay silent, and on a runbook that no rule names. Prints one line
// per breach. It checks the working directory, so that the tests can show it firing elsewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expressionsOf, type Rule, readMonitoring, unknownMetrics } from './monitoring.ts';
import { listSourceFiles } from './source-files.ts';

const RUNBOOK = /^docs\/runbooks\/(?!README).*\.md$/;
const PRODUCT = /^(?:packages|services)\/[^/]+\/src\/.*(?<!\.test)\.ts$/;

/** Metrics of Prometheus itself. */
const ownMetrics = ['up'];
/** Metrics that prom-client registers for every process. */
const OF_PROCESS = /^(?:process|nodejs)_/;

const root = process.cwd();
const files = listSourceFiles(root);
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/**
 * Every quoted name in files that register metrics. Names that are no metrics do no harm, because nothing queries them.
 */
const registered = new Set([
  ...ownMetrics,
  ...files
    .filter((file) => PRODUCT.test(file))
    .map(read)
    .filter((text) => text.includes("'prom-client'"))
    .flatMap((text) => [...text.matchAll(/'([a-z][a-z0-9_]*)'/g)].map((match) => match[1] ?? '')),
]);

/** The runbook of an alert has the alert's name. */
const runbookOf = (alert: string): string =>
  `docs/runbooks/${alert.replaceAll(/(?<=.)(?=[A-Z])/g, '-').toLowerCase()}.md`;

const monitoring = readMonitoring(root);

const checkRule = (rule: Rule): readonly string[] => {
  const { alert = '', labels, annotations } = rule;
  const runbook = runbookOf(alert);
  const cases = monitoring.cases.filter((one) => one.alert === alert);
  return [
    ...(['page', 'ticket'].includes(labels?.severity ?? '')
      ? []
      : ['its severity is neither page nor ticket']),
    ...(annotations?.summary === undefined ? ['has no summary'] : []),
    ...(annotations?.runbook === runbook ? [] : [`its runbook must be ${runbook}`]),
    ...(files.includes(runbook) ? [] : [`no file ${runbook}`]),
    ...(cases.some(({ fires }) => fires) ? [] : ['no test sees it fire']),
    ...(cases.some(({ fires }) => !fires) ? [] : ['no test sees it stay silent']),
  ].map((breach) => `${alert} ${breach}`);
};

const { rules } = monitoring;
const named = new Set(rules.flatMap(({ value }) => value.map(({ alert = '' }) => runbookOf(alert))));
const breaches = [
  ...expressionsOf(monitoring).flatMap(({ file, name, metrics, problems }) => [
    ...problems.map((problem) => `${file}: ${name} ${problem}`),
    ...unknownMetrics(metrics, registered)
      .filter((metric) => !OF_PROCESS.test(metric))
      .map((metric) => `${file}: ${name} no service registers ${metric}`),
  ]),
  ...rules.flatMap(({ file, value }) => value.flatMap(checkRule).map((breach) => `${file}: ${breach}`)),
  ...rules.filter(({ value }) => value.length === 0).map(({ file }) => `${file}: has no rules`),
  ...files
    .filter((file) => RUNBOOK.test(file) && !named.has(file))
    .map((file) => `${file}: no rule names this runbook`),
];

for (const breach of breaches) process.stdout.write(`${breach}\n`);
if (breaches.length > 0) process.exitCode = 1;
