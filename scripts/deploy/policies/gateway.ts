import { services } from '@pesewa/contracts';
import { site } from '../site.ts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  numberAt,
  ofKind,
  type Rule,
  remove,
  textAt,
  titleOf,
} from './rendered.ts';

/** Rules over the way in. */
export const gatewayRules: readonly Rule[] = [
  {
    name: 'the four hosts are apart, each by TLS with a certificate of its own, and lead to public ports alone',
    check: ({ objects }) => {
      const listeners = ofKind(objects, 'Gateway').flatMap((gateway) =>
        listAt(gateway, 'spec.listeners').map((listener) => ({ gateway: gateway.metadata.name, listener })),
      );
      const isGood = ({ gateway, listener }: (typeof listeners)[number]): boolean => {
        const hostname = textAt(listener, 'hostname');
        const secret = textAt(listener, 'tls.certificateRefs.0.name');
        const routes = ofKind(objects, 'HTTPRoute').filter((one) =>
          isSame(at(one, 'spec.hostnames'), [hostname]),
        );
        const certificates = ofKind(objects, 'Certificate').filter(
          (one) => textAt(one, 'spec.secretName') === secret,
        );
        const [route] = routes;
        const seconds = (field: string) =>
          Number.parseInt(textAt(route, `spec.rules.0.timeouts.${field}`), 10);
        const backend = Object.entries(services).find(
          ([name]) => name === textAt(route, 'spec.rules.0.backendRefs.0.name'),
        );
        return (
          listener['protocol'] === 'HTTPS' &&
          routes.length === 1 &&
          textAt(route, 'spec.parentRefs.0.name') === gateway &&
          textAt(route, 'spec.parentRefs.0.sectionName') === listener['name'] &&
          isSame(
            certificates.map((one) => at(one, 'spec.dnsNames')),
            [[hostname]],
          ) &&
          backend?.[1].isPublic === true &&
          numberAt(route, 'spec.rules.0.backendRefs.0.port') === backend[1].port &&
          seconds('backendRequest') <= seconds('request')
        );
      };
      const bad = listeners
        .filter((listener) => !isGood(listener))
        .map(({ listener }) => textAt(listener, 'name'));
      const hostnames = new Set(listeners.map(({ listener }) => listener['hostname']));
      return [
        ...bad,
        ...(hostnames.size === 4 && listeners.length === 4 ? [] : ['there are not four hosts']),
      ];
    },
    violations: [
      (objects) => {
        for (const listener of ofKind(objects, 'Gateway').flatMap((one) => listAt(one, 'spec.listeners')))
          listener['protocol'] = 'HTTP';
      },
      (objects) =>
        ((at(named(objects, 'HTTPRoute', 'payouts'), 'spec') as Fields)['hostnames'] = [
          'callbacks.pesewa.example',
        ]),
      (objects) =>
        ((listAt(named(objects, 'HTTPRoute', 'payouts'), 'spec.rules.0.backendRefs')[0] as Fields)['port'] =
          4_011),
      (objects) => remove(objects, 'Certificate', 'callbacks'),
    ],
  },
  {
    name: 'the console alone is behind the internal Gateway, and no merchant finds it behind theirs',
    check: ({ objects }) =>
      ofKind(objects, 'HTTPRoute')
        .filter((route) => {
          const gateway = named(objects, 'Gateway', textAt(route, 'spec.parentRefs.0.name'));
          const isConsole = textAt(route, 'spec.rules.0.backendRefs.0.name') === 'console';
          const wanted = isConsole ? site.internalGatewayClass : site.gatewayClass;
          return (
            textAt(gateway, 'spec.gatewayClassName') !== wanted ||
            listAt(route, 'spec.parentRefs').length !== 1 ||
            listAt(route, 'spec.rules').some((rule) => listAt(rule, 'backendRefs').length !== 1)
          );
        })
        .map(titleOf),
    violations: [
      (objects) =>
        ((at(named(objects, 'Gateway', 'console'), 'spec') as Fields)['gatewayClassName'] =
          site.gatewayClass),
      (objects) =>
        ((listAt(named(objects, 'HTTPRoute', 'payouts'), 'spec.rules.0.backendRefs')[0] as Fields)['name'] =
          'console'),
      (objects) =>
        void (listAt(named(objects, 'HTTPRoute', 'console'), 'spec.parentRefs') as Fields[]).push({
          name: 'pesewa',
        }),
    ],
  },
];
