import { messagingServices } from '@pesewa/contracts';
import { deployedServices } from '../model.ts';
import {
  at,
  type Fields,
  listAt,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  servicesOf,
  textAt,
  titleOf,
} from './rendered.ts';

const alerts = (objects: readonly Rendered[]): readonly Fields[] =>
  ofKind(objects, 'PrometheusRule').flatMap((one) =>
    listAt(one, 'spec.groups').flatMap((group) => listAt(group, 'rules')),
  );

/** The expressions of the alerts that a service is down. */
const whenDown = (objects: readonly Rendered[]): string =>
  alerts(objects)
    .filter(({ alert }) => alert === 'ServiceDown')
    .map((alert) => textAt(alert, 'expr'))
    .join(' or ');

/** Metric names that other software uses too, with the labels of the query. */
const OF_OTHERS_TOO = /\b(?:up|http_\w+|process_\w+|nodejs_\w+)\b(?:\{(?<labels>[^}]*)\})?/g;

/** The labels that ask for our services: all of them, or one. */
const ourJobs = [`job=~"${messagingServices.join('|')}"`, ...deployedServices.map((name) => `job="${name}"`)];

/** Whether an expression asks for targets that are none of ours. */
const asksForOthers = (expression: string): boolean =>
  [...expression.matchAll(OF_OTHERS_TOO)].some(
    ({ groups }) => !ourJobs.some((job) => (groups?.['labels'] ?? '').split(/,(?=\w+[=!])/).includes(job)),
  );

/** Rules over how the hub is watched. */
export const monitoringRules: readonly Rule[] = [
  {
    name: 'every service is scraped, every alert is there, and a service without a replica is down',
    check: ({ objects }) => {
      const monitor = ofKind(objects, 'PodMonitor')[0];
      const selector = at(monitor, 'spec.selector.matchLabels') as
        | Readonly<Record<string, string>>
        | undefined;
      const missed = podsOf(servicesOf(objects)).filter(
        ({ labels }) =>
          !selector || Object.entries(selector).some(([label, value]) => labels[label] !== value),
      );
      const [endpoint] = listAt(monitor, 'spec.podMetricsEndpoints');
      const rules = ofKind(objects, 'PrometheusRule').map(({ metadata }) => metadata.name);
      return [
        ...missed.map(({ owner }) => titleOf(owner)),
        ...(endpoint?.['port'] === 'operations' && endpoint['path'] === '/metrics' ? [] : ['the PodMonitor']),
        ...['reconciler', 'services'].filter((name) => !rules.includes(name)),
        ...deployedServices.filter((name) => !whenDown(objects).includes(`absent(up{job="${name}"})`)),
      ];
    },
    violations: [
      (objects) =>
        void objects.splice(
          objects.findIndex(({ kind }) => kind === 'PodMonitor'),
          1,
        ),
      (objects) =>
        void objects.splice(
          objects.findIndex(({ kind }) => kind === 'PrometheusRule'),
          1,
        ),
      (objects) => {
        for (const rule of alerts(objects))
          rule['expr'] = textAt(rule, 'expr').replace('absent(up{job="reconciler"})', 'up == 0');
      },
    ],
  },
  {
    name: 'no alert is over the targets of others, where a Prometheus is shared',
    check: ({ objects }) =>
      alerts(objects)
        .filter((alert) => asksForOthers(textAt(alert, 'expr')))
        .map((alert) => textAt(alert, 'alert')),
    violations: [
      (objects) => {
        for (const rule of alerts(objects))
          rule['expr'] = textAt(rule, 'expr').replace(/up\{job=~.*?\}/, 'up');
      },
      (objects) => {
        for (const rule of alerts(objects))
          rule['expr'] = textAt(rule, 'expr').replace(/(?<=http_requests_total\{)job=~".*?",/, '');
      },
      (objects) => {
        for (const rule of alerts(objects)) rule['expr'] = textAt(rule, 'expr').replace('|reconciler"', '"');
      },
    ],
  },
];
