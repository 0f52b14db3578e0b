import { messagingServices, services } from '@pesewa/contracts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  OPERATOR_TOOLS,
  ofKind,
  type Rendered,
  type Rule,
  specOf,
  textAt,
} from './rendered.ts';
import { configurationOf } from './services.ts';

const deployment = (objects: readonly Rendered[]): Rendered | undefined =>
  named(objects, 'Deployment', OPERATOR_TOOLS);
const container = (objects: readonly Rendered[]): Fields =>
  listAt(deployment(objects), 'spec.template.spec.containers')[0] ?? {};
const settings = (objects: readonly Rendered[]): Fields =>
  at(named(objects, 'ExternalSecret', `${OPERATOR_TOOLS}-settings`), 'spec.target.template.data') as Fields;

const LABELS = {
  'app.kubernetes.io/name': OPERATOR_TOOLS,
  'app.kubernetes.io/part-of': 'pesewa',
  'app.kubernetes.io/component': 'maintenance',
};

/** The variables of the command line with the addresses of the services' operations. */
const addresses = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    messagingServices.map((name) => [
      `${name.replaceAll('-', '_').toUpperCase()}_URL`,
      `http://${name}:${services[name].operationsPort}`,
    ]),
  );

/** Rules about the command line's Pod, which is no service and exists only while somebody needs it. */
export const operatorToolsRules: readonly Rule[] = [
  {
    name: 'people have a Pod only while they ask for one, by the labels that policies know',
    check: ({ objects }) => {
      const labels = at(deployment(objects), 'spec.template.metadata.labels');
      const isScaled = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').some(
        (scaler) => textAt(scaler, 'spec.scaleTargetRef.name') === OPERATOR_TOOLS,
      );
      return !isScaled &&
        at(deployment(objects), 'spec.replicas') === 0 &&
        isSame(labels, LABELS) &&
        isSame(at(deployment(objects), 'spec.selector.matchLabels'), LABELS)
        ? []
        : [OPERATOR_TOOLS];
    },
    violations: [
      (objects) => (specOf(deployment(objects))['replicas'] = 1),
      (objects) => void delete specOf(deployment(objects))['replicas'],
      (objects) => {
        const [scaler] = ofKind(objects, 'ScaledObject');
        (at(scaler, 'spec.scaleTargetRef') as Fields)['name'] = OPERATOR_TOOLS;
      },
      (objects) =>
        ((at(deployment(objects), 'spec.template.metadata.labels') as Fields)['app.kubernetes.io/component'] =
          'service'),
    ],
  },
  {
    name: 'the command line finds every service, and goes to MongoDB as the user of people',
    check: ({ objects }) => {
      const { MONGODB_URL_FILE, ...found } = configurationOf(objects, container(objects));
      const isGood =
        isSame(found, addresses()) &&
        MONGODB_URL_FILE === '/etc/pesewa/MONGODB_URL' &&
        textAt(settings(objects), 'MONGODB_URL').startsWith('mongodb://operators:{{ ');
      return isGood ? [] : [OPERATOR_TOOLS];
    },
    violations: [
      (objects) => (container(objects)['envFrom'] = []),
      (objects) => (settings(objects)['MONGODB_URL'] = 'mongodb://ledger:{{ .x }}@host/'),
    ],
  },
];
