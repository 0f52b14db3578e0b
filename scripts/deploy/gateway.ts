import { serviceOf } from './model.ts';
import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { site } from './site.ts';

const part = { component: 'platform', of: 'gateway' } as const;
const GATEWAY = 'pesewa';
const API = 'gateway.networking.k8s.io/v1';

/** The three public hosts, each with its own certificate and its own entry. */
export const hosts = [
  { name: 'payouts', service: 'payout-gateway' },
  { name: 'collections', service: 'collection-gateway' },
  { name: 'callbacks', service: 'webhook-ingress' },
] as const;

/** A host's address under the domain of an installation. */
export const hostOf = (name: string, domain: string): string => `${name}.${domain}`;

/** The domain that each overlay replaces with its own. */
const BASE_DOMAIN = 'pesewa.example';

/** A whole request, with our own server's limit of fifteen seconds, and its answer. */
const TIMEOUTS = { request: '30s', backendRequest: '25s' };

const secretOf = (name: string): string => `${name}-tls`;

const gateway = (): Manifest =>
  manifest(API, 'Gateway', GATEWAY, part, {
    spec: {
      gatewayClassName: site.gatewayClass,
      listeners: hosts.map(({ name }) => ({
        name,
        hostname: hostOf(name, BASE_DOMAIN),
        port: 443,
        protocol: 'HTTPS',
        tls: {
          mode: 'Terminate',
          certificateRefs: [{ group: '', kind: 'Secret', name: secretOf(name) }],
        },
        allowedRoutes: { namespaces: { from: 'Same' } },
      })),
    },
  });

const route = ({ name, service }: (typeof hosts)[number]): Manifest =>
  manifest(API, 'HTTPRoute', name, part, {
    spec: {
      parentRefs: [
        {
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          name: GATEWAY,
          namespace: NAMESPACE,
          sectionName: name,
        },
      ],
      hostnames: [hostOf(name, BASE_DOMAIN)],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          timeouts: TIMEOUTS,
          backendRefs: [
            { group: '', kind: 'Service', name: service, port: serviceOf(service).port, weight: 1 },
          ],
        },
      ],
    },
  });

const certificate = ({ name }: (typeof hosts)[number]): Manifest =>
  manifest('cert-manager.io/v1', 'Certificate', name, part, {
    spec: {
      secretName: secretOf(name),
      dnsNames: [hostOf(name, BASE_DOMAIN)],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      usages: ['digital signature', 'server auth'],
      issuerRef: { name: site.publicIssuer, kind: 'ClusterIssuer', group: 'cert-manager.io' },
    },
  });

/** The entry from outside. */
export const gatewayManifests = (): readonly Manifest[] => [
  gateway(),
  ...hosts.map(route),
  ...hosts.map(certificate),
];
