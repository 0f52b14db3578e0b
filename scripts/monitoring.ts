import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { type Expression, readExpression } from './promql.ts';
import { listSourceFiles } from './source-files.ts';

/** An alert as in its file; a malformed one shows up as one that lacks required fields. */
export interface Rule {
  readonly alert?: string;
  readonly expr?: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook?: string };
}

/** The fields of a panel that are checked here. */
export interface Panel {
  readonly id?: number;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly datasource?: { readonly type?: string; readonly uid?: string };
  readonly fieldConfig?: { readonly defaults?: { readonly unit?: string } };
  readonly gridPos?: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr?: string; readonly refId?: string }[];
}

/** A dashboard in Grafana's classic form. */
export interface Dashboard {
  readonly uid?: string;
  readonly title?: string;
  readonly schemaVersion?: number;
  readonly panels?: readonly Panel[];
}

/** The tests of one alert: those that expect it, and those that expect its absence. */
export interface AlertCase {
  readonly alert: string;
  readonly fires: boolean;
}

interface InFile<Value> {
  readonly file: string;
  readonly value: Value;
}

/** The monitoring files of a repository. */
export interface Monitoring {
  readonly rules: readonly InFile<readonly Rule[]>[];
  readonly dashboards: readonly InFile<Dashboard>[];
  readonly cases: readonly AlertCase[];
}

const FOLDER = 'deploy/monitoring/';

/** Reads the rules, their tests and the dashboards of a repository. */
export function readMonitoring(root: string): Monitoring {
  const files = listSourceFiles(root).filter((file) => file.startsWith(FOLDER));
  const read = <Value>(pattern: RegExp): readonly InFile<Value>[] =>
    files
      .filter((file) => pattern.test(file.slice(FOLDER.length)))
      // JSON is YAML.
      .map((file) => ({ file, value: parse(readFileSync(path.join(root, file), 'utf8')) as Value }));
  return {
    rules: read<{ readonly groups?: readonly { readonly rules?: readonly Rule[] }[] }>(
      /^[^/]+\.rules\.yaml$/,
    ).map(({ file, value: { groups = [] } }) => ({
      file,
      value: groups.flatMap(({ rules = [] }) => rules),
    })),
    dashboards: read<Dashboard>(/^dashboards\/[^/]+\.json$/),
    cases: read<RuleTests>(/^tests\/[^/]+\.yaml$/).flatMap(({ value }) => casesOf(value)),
  };
}

/** A file of tests for `promtool test rules`. */
interface RuleTests {
  readonly tests?: readonly {
    readonly alert_rule_test?: readonly {
      readonly alertname: string;
      readonly exp_alerts?: readonly unknown[] | null;
    }[];
  }[];
}

function casesOf({ tests = [] }: RuleTests): readonly AlertCase[] {
  return tests.flatMap(({ alert_rule_test: cases = [] }) =>
    cases.map(({ alertname: alert, exp_alerts: expected }) => ({
      alert,
      fires: (expected ?? []).length > 0,
    })),
  );
}

/** An expression of a rule or a panel, and its place. */
export interface Asked extends Expression {
  readonly file: string;
  /** The alert or the panel. */
  readonly name: string;
}

/** Every expression that Prometheus is asked. */
export function expressionsOf({ rules, dashboards }: Monitoring): readonly Asked[] {
  return [
    ...rules.flatMap(({ file, value }) =>
      value.map(({ alert = '', expr = '' }) => ({ file, name: alert, ...readExpression(expr) })),
    ),
    ...dashboards.flatMap(({ file, value: { panels = [] } }) =>
      panels.flatMap(({ title = '', targets = [] }) =>
        targets.map(({ expr = '' }) => ({ file, name: title, ...readExpression(expr) })),
      ),
    ),
  ];
}

/** The suffixes of the series of one histogram. */
const HISTOGRAM_SUFFIX = /_(?:bucket|sum|count)$/;

/** The metrics in expressions that no service has. */
export function unknownMetrics(metrics: readonly string[], known: ReadonlySet<string>): readonly string[] {
  return metrics.filter((name) => !known.has(name) && !known.has(name.replace(HISTOGRAM_SUFFIX, '')));
}
