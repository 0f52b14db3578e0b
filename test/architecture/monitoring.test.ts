import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { messagingServices, serviceNames } from '@pesewa/contracts';
import { repositoryRoot, runCommand } from '@pesewa/scripts/command';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  expressionsOf,
  metricsOf,
  type Panel,
  readMonitoring,
  unknownMetrics,
  withoutVariables,
} from './monitoring.ts';

const monitoring = readMonitoring(repositoryRoot);
const { dashboards, rules, cases } = monitoring;

/** A panel as Grafana takes it in. */
interface PlacedPanel extends Panel {
  readonly id?: number;
  readonly type?: string;
  readonly datasource?: { readonly type?: string; readonly uid?: string };
  readonly fieldConfig?: { readonly defaults?: { readonly unit?: string } };
  readonly gridPos?: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}

const overlap = (one: PlacedPanel, other: PlacedPanel): boolean => {
  const [a, b] = [one.gridPos, other.gridPos];
  if (!a || !b) return true;
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
};

it('there is a dashboard for each of those who look', () => {
  expect(dashboards.map(({ file }) => path.basename(file))).toEqual([
    'finance.json',
    'merchant-integration.json',
    'operations.json',
  ]);
});

it.each(dashboards)(
  '$file is one that Grafana takes in, each panel with its unit and its query',
  ({ file, value }) => {
    const panels: readonly PlacedPanel[] = value.panels ?? [];
    expect(value).toMatchObject({ schemaVersion: 42, uid: `pesewa-${path.basename(file, '.json')}` });
    for (const panel of panels) {
      const { title = '', type = '', datasource, fieldConfig, gridPos, targets = [] } = panel;
      expect(['timeseries', 'stat'], title).toContain(type);
      expect(title).toMatch(/^[A-Z]/);
      expect(datasource, title).toEqual({ type: 'prometheus', uid: 'prometheus' });
      expect(fieldConfig?.defaults?.unit ?? '', title).toMatch(/./);
      const { x = -1, w = 0 } = gridPos ?? {};
      expect(x >= 0 && x + w <= 24, `${title} stands beside the page`).toBe(true);
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { expr = '', refId = '' } of targets) {
        expect(expr, title).toMatch(/./);
        expect(refId, title).toMatch(/^[A-Z]$/);
      }
    }
    const pairs = panels.flatMap((one, index) =>
      panels.slice(index + 1).map((other) => [one, other] as const),
    );
    expect(pairs.filter(([one, other]) => overlap(one, other)).map(([{ title }]) => title)).toEqual([]);
    for (const field of ['id', 'title'] as const)
      expect(new Set(panels.map((panel) => panel[field])).size).toBe(panels.length);
  },
);

const hasPromtool = (await runCommand('promtool', ['--version'])).code === 0;
const reason = hasPromtool ? '' : ' (left out: no promtool)';
const TIMEOUT_MS = 60_000;

// promtool comes with Prometheus and is in none of our packages.
it.runIf(hasPromtool)(
  `promtool takes the rules, and each fires when its tests say so${reason}`,
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = path.join(repositoryRoot, 'deploy', 'monitoring');
    const files = rules.map(({ file }) => path.join(repositoryRoot, file));
    expect(await runCommand('promtool', ['check', 'rules', ...files])).toMatchObject({ code: 0 });
    const tests = files.map((file) => path.join(folder, 'tests', path.basename(file).replace('.rules', '')));
    expect(await runCommand('promtool', ['test', 'rules', ...tests])).toMatchObject({ code: 0 });
  },
);

// As above.
it.runIf(hasPromtool)(
  `promtool takes the queries of the panels, types included${reason}`,
  { timeout: TIMEOUT_MS },
  async () => {
    const queries = dashboards.flatMap(({ value }) =>
      (value.panels ?? []).flatMap(({ targets = [] }) => targets.map(({ expr = '' }) => expr)),
    );
    const folder = await mkdtemp(path.join(tmpdir(), 'pesewa-panels-'));
    try {
      const file = path.join(folder, 'panels.rules.yaml');
      const recorded = queries.map((expr, index) => ({
        record: `panel_${index}`,
        expr: withoutVariables(expr),
      }));
      await writeFile(file, stringify({ groups: [{ name: 'panels', rules: recorded }] }));
      expect(await runCommand('promtool', ['check', 'rules', file])).toMatchObject({ code: 0 });
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

const alerts = rules.flatMap(({ value }) => value);

it('every query asks for metrics that a service registers', () => {
  // Every quoted name in files that register metrics: names that are no metrics do no harm, because nothing queries them.
  const registering = globSync('{packages,services}/*/src/**/*.ts', { cwd: repositoryRoot })
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => readFileSync(path.join(repositoryRoot, file), 'utf8'))
    .filter((text) => text.includes("'prom-client'"));
  const names = registering.flatMap((text) => [...text.matchAll(/'([a-z][a-z0-9_]*)'/g)]);
  const registered = new Set(names.map(([, name = '']) => name));
  // Metrics of Prometheus itself, and those that prom-client registers for every process.
  const foreign = /^(?:up$|process_|nodejs_)/;
  for (const { file, name, metrics } of expressionsOf(monitoring)) {
    const unknown = unknownMetrics(metrics, registered).filter((metric) => !foreign.test(metric));
    expect(unknown, `${name} in ${file}`).toEqual([]);
    expect(metrics, `${name} in ${file}`).not.toEqual([]);
  }
});

/** The runbook of an alert has the alert's name. */
const runbookOf = (alert: string): string =>
  `docs/runbooks/${alert.replaceAll(/(?<=.)(?=[A-Z])/g, '-').toLowerCase()}.md`;

it.each(alerts)(
  '$alert has a severity, a summary, a runbook, and tests that see it fire and stay silent',
  ({ alert, labels, annotations }) => {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/./);
    expect(annotations.runbook).toBe(runbookOf(alert));
    const seen = cases.filter((one) => one.alert === alert).map(({ fires }) => fires);
    expect(seen).toContain(true);
    expect(seen).toContain(false);
  },
);

it('every alert has its own runbook, and every runbook an alert', () => {
  const runbooks = globSync('docs/runbooks/*.md', { cwd: repositoryRoot });
  const named = new Set(alerts.map(({ alert }) => runbookOf(alert)));
  expect(runbooks.filter((file) => !file.endsWith('README.md')).toSorted()).toEqual([...named].toSorted());
});

const deployed = serviceNames.filter((name) => name !== 'provider-simulator');

it('each service without a replica is down', () => {
  const expressions = alerts.filter(({ alert }) => alert === 'ServiceDown').map(({ expr }) => expr);
  for (const name of deployed) expect(expressions.join(' or ')).toContain(`absent(up{job="${name}"})`);
});

it('no alert asks for the targets of others, where a Prometheus is shared', () => {
  const jobs = [`job=~"${messagingServices.join('|')}"`, ...deployed.map((name) => `job="${name}"`)];
  for (const { alert, expr } of alerts)
    for (const { groups } of expr.matchAll(
      /\b(?:up|http_\w+|process_\w+|nodejs_\w+)\b(?:\{(?<labels>[^}]*)\})?/g,
    )) {
      const labels = (groups?.['labels'] ?? '').split(/,(?=\w+[=!])/);
      expect({ alert, asks: jobs.some((job) => labels.includes(job)) }).toEqual({ alert, asks: true });
    }
});

it.each([
  ['up == 0', ['up']],
  ['sum by (kind) (rate(open_breaks{kind=~"a.b"}[10m] offset 1h)) > 1 and up == 1', ['open_breaks', 'up']],
  ['histogram_quantile(0.99, sum by (le) (rate(x_bucket{job=~"$job"}[$__rate_interval])))', ['x_bucket']],
  ['max_over_time(rate(a_total[1m])[1h:1m]) or absent(b)', ['a_total', 'b']],
  ['a unless on (job) group_left () b', ['a', 'b']],
])('%s names its metrics', (text, metrics) => {
  expect(metricsOf(text)).toEqual(metrics);
});
