import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** An alert as in its file. */
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

/** A panel of a dashboard, as far as it is read here. */
export interface Panel {
  readonly title?: string;
  readonly targets?: readonly { readonly expr?: string; readonly refId?: string }[];
}

/** The tests of one alert for `promtool test rules`: those that expect it, and those that expect its absence. */
interface AlertTests {
  readonly alert_rule_test?: readonly {
    readonly alertname: string;
    readonly exp_alerts?: readonly unknown[] | null;
  }[];
}

/** The content of a file of rules, of their tests, and of a dashboard in Grafana's classic form. */
interface MonitoringFile {
  readonly groups?: readonly { readonly rules?: readonly Rule[] }[];
  readonly tests?: readonly AlertTests[];
  readonly panels?: readonly Panel[];
}

/** Reads the rules, their tests and the dashboards of a repository. */
export function readMonitoring(root: string) {
  const read = (pattern: string) =>
    globSync(`deploy/monitoring/${pattern}`, { cwd: root })
      .toSorted()
      // JSON is YAML.
      .map((file) => ({ file, value: parse(readFileSync(path.join(root, file), 'utf8')) as MonitoringFile }));
  return {
    rules: read('*.rules.yaml').map(({ file, value: { groups = [] } }) => ({
      file,
      value: groups.flatMap(({ rules = [] }) => rules),
    })),
    dashboards: read('dashboards/*.json'),
    cases: read('tests/*.yaml')
      .flatMap(({ value: { tests = [] } }) => tests.flatMap(({ alert_rule_test: cases = [] }) => cases))
      .map(({ alertname, exp_alerts: expected }) => ({ alert: alertname, fires: Boolean(expected?.length) })),
  };
}

/** An expression of a dashboard as Prometheus gets it, whatever is selected there. */
export const withoutVariables = (text: string): string =>
  text.replaceAll(/\$__(?:rate_interval|interval|range)\b/g, '5m').replaceAll(/\$\{?\w+\}?/g, 'any');

/** What stands in an expression besides names of metrics and calls: texts, labels, ranges, numbers and words. */
const OTHERWISE =
  /"[^"]*"|\{(?:"[^"]*"|[^}"])*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring|group_left|group_right) *\([^)]*\)|\b(?:and|or|unless|offset|bool|\d\w*)\b/g;

/** The names of an expression's series. */
export const metricsOf = (expression: string): readonly string[] => [
  ...new Set(
    withoutVariables(expression)
      .replaceAll(OTHERWISE, '')
      .match(/\b[a-z_]\w*\b(?! *\()/g),
  ),
];

/** Every expression that Prometheus is asked, with its file and the alert or the panel. */
export function expressionsOf({ rules, dashboards }: ReturnType<typeof readMonitoring>) {
  const alerts = rules.flatMap(({ file, value }) =>
    value.map(({ alert, expr }) => ({ file, name: alert, expr })),
  );
  const panels = dashboards.flatMap(({ file, value }) =>
    (value.panels ?? []).flatMap(({ title = '', targets = [] }) =>
      targets.map(({ expr = '' }) => ({ file, name: title, expr })),
    ),
  );
  return [...alerts, ...panels].map(({ expr, ...place }) => ({ ...place, metrics: metricsOf(expr) }));
}

/** The metrics in expressions that no service has; a histogram has several series. */
export const unknownMetrics = (metrics: readonly string[], known: ReadonlySet<string>): readonly string[] =>
  metrics.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, '')));
