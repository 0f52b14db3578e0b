import { services } from '@pesewa/contracts';
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
} from './rendered.ts';

/** Rules over the way in. */
export const gatewayRules: readonly Rule[] = [
  {
    name: 'the three hosts are apart, each by TLS with a certificate of its own, and lead to public ports alone',
    check: ({ objects }) => {
      const listeners = ofKind(objects, 'Gateway').flatMap((gateway) => listAt(gateway, 'spec.listeners'));
      const isGood = (listener: Fields): boolean => {
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
        .map((listener) => textAt(listener, 'name'));
      const hostnames = new Set(listeners.map((listener) => listener['hostname']));
      return [
        ...bad,
        ...(hostnames.size === 3 && listeners.length === 3 ? [] : ['there are not three hosts']),
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
];
