import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { repositoryRoot } from '../command.ts';
import { type Manifest, manifest } from './objects.ts';

const API = 'monitoring.coreos.com/v1';
const part = { component: 'platform', of: 'monitoring' } as const;
const directory = path.join(repositoryRoot, 'deploy', 'monitoring');
const RULES = '.rules.yaml';

const list = (folder: string, ending: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith(ending))
        .toSorted()
    : [];

/** Scrapes every replica's operations port, under the name of its service. */
const podMonitor = (): Manifest =>
  manifest(API, 'PodMonitor', 'pesewa', part, {
    spec: {
      jobLabel: 'app.kubernetes.io/name',
      selector: {
        matchLabels: { 'app.kubernetes.io/part-of': 'pesewa', 'app.kubernetes.io/component': 'service' },
      },
      podMetricsEndpoints: [{ port: 'operations', path: '/metrics', interval: '15s', scrapeTimeout: '10s' }],
    },
  });

/** The rules of `deploy/monitoring`, one object per file. */
const rules = (): readonly Manifest[] =>
  list(directory, RULES).map((file) =>
    manifest(API, 'PrometheusRule', file.slice(0, -RULES.length), part, {
      spec: parse(readFileSync(path.join(directory, file), 'utf8')) as object,
    }),
  );

/** The dashboards of `deploy/monitoring/dashboards`; Grafana's sidecar finds them by their label. */
const dashboards = (): readonly Manifest[] => {
  const folder = path.join(directory, 'dashboards');
  return list(folder, '.json').map((file) =>
    manifest(
      'v1',
      'ConfigMap',
      `dashboard-${file.slice(0, -'.json'.length)}`,
      { ...part, labels: { grafana_dashboard: '1' } },
      {
        data: { [file]: readFileSync(path.join(folder, file), 'utf8') },
      },
    ),
  );
};

/** How the hub is watched. */
export const monitoring = (): readonly Manifest[] => [podMonitor(), ...rules(), ...dashboards()];
