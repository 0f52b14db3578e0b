// Fails on an alert rule or a panel over a metric that no service registers, on an expression that can't be read, on a rule
// without its runbook or without tests that see it fire and stay silent, and on a runbook that no rule names. Prints one line
// per breach. It checks the working directory, so that the tests can show it firing elsewhere.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expressionsOf, type Rule, readMonitoring, unknownMetrics } from './monitoring.ts';
import { listSourceFiles } from './source-files.ts';

const files = listSourceFiles(process.cwd());
const monitoring = readMonitoring(process.cwd());

/** Every quoted name in files that register metrics: names that are no metrics do no harm, because nothing queries them. */
const registered = new Set(
  files
    .filter((file) => /^(?:packages|services)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file))
    .map((file) => readFileSync(path.join(process.cwd(), file), 'utf8'))
    .filter((text) => text.includes("'prom-client'"))
    .flatMap((text) => [...text.matchAll(/'([a-z][a-z0-9_]*)'/g)].map((match) => match[1] ?? '')),
);
/** Metrics of Prometheus itself, and those that prom-client registers for every process. */
const FOREIGN = /^(?:up$|process_|nodejs_)/;

/** The runbook of an alert has the alert's name. */
const runbookOf = ({ alert = '' }: Rule): string =>
  `docs/runbooks/${alert.replaceAll(/(?<=.)(?=[A-Z])/g, '-').toLowerCase()}.md`;

function breachesOf(rule: Rule): readonly string[] {
  const { alert = '', labels, annotations } = rule;
  const runbook = runbookOf(rule);
  const tests = monitoring.cases.filter((one) => one.alert === alert);
  const needed: readonly (readonly [isGood: boolean, breach: string])[] = [
    [['page', 'ticket'].includes(labels?.severity ?? ''), 'its severity is neither page nor ticket'],
    [annotations?.summary !== undefined, 'has no summary'],
    [annotations?.runbook === runbook, `its runbook must be ${runbook}`],
    [files.includes(runbook), `no file ${runbook}`],
    [tests.some(({ fires }) => fires), 'no test sees it fire'],
    [tests.some(({ fires }) => !fires), 'no test sees it stay silent'],
  ];
  return needed.flatMap(([isGood, breach]) => (isGood ? [] : [`${alert} ${breach}`]));
}

const named = new Set(monitoring.rules.flatMap(({ value }) => value.map(runbookOf)));
const breaches = [
  ...expressionsOf(monitoring).flatMap(({ file, name, metrics, problems }) => [
    ...problems.map((problem) => `${file}: ${name} ${problem}`),
    ...unknownMetrics(metrics, registered)
      .filter((metric) => !FOREIGN.test(metric))
      .map((metric) => `${file}: ${name} no service registers ${metric}`),
  ]),
  ...monitoring.rules.flatMap(({ file, value }) =>
    (value.length > 0 ? value.flatMap(breachesOf) : ['has no rules']).map((breach) => `${file}: ${breach}`),
  ),
  ...files
    .filter((file) => /^docs\/runbooks\/(?!README).*\.md$/.test(file) && !named.has(file))
    .map((file) => `${file}: no rule names this runbook`),
];
process.stdout.write(breaches.map((breach) => `${breach}\n`).join(''));
process.exitCode = breaches.length > 0 ? 1 : 0;
