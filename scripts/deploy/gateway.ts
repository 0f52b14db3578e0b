import type { ServiceName } from '@pesewa/contracts';
import { serviceOf } from './model.ts';
import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { site } from './site.ts';

const part = { component: 'platform', of: 'gateway' } as const;
const API = 'gateway.networking.k8s.io/v1';

interface Host {
  readonly name: string;
  readonly service: ServiceName;
}

/** The Gateways, each with its hosts; the console is never behind the address that strangers reach. */
export const gateways: readonly {
  readonly name: string;
  readonly className: string;
  readonly hosts: readonly Host[];
}[] = [
  {
    name: 'pesewa',
    className: site.gatewayClass,
    hosts: [
      { name: 'payouts', service: 'payout-gateway' },
      { name: 'collections', service: 'collection-gateway' },
      { name: 'callbacks', service: 'webhook-ingress' },
    ],
  },
  {
    name: 'console',
    className: site.internalGatewayClass,
    hosts: [{ name: 'console', service: 'console' }],
  },
];

type Gateway = (typeof gateways)[number];

/** A host's address under the domain of an installation. */
export const hostOf = (name: string, domain: string): string => `${name}.${domain}`;

/** The domain that each overlay replaces with its own. */
const BASE_DOMAIN = 'pesewa.example';

/** A whole request, with our own server's limit of fifteen seconds, and its answer. */
const TIMEOUTS = { request: '30s', backendRequest: '25s' };

const secretOf = (name: string): string => `${name}-tls`;

const gateway = ({ name: gatewayName, className, hosts }: Gateway): Manifest =>
  manifest(API, 'Gateway', gatewayName, part, {
    spec: {
      gatewayClassName: className,
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

const route = (gatewayName: string, { name, service }: Host): Manifest =>
  manifest(API, 'HTTPRoute', name, part, {
    spec: {
      parentRefs: [
        {
          group: 'gateway.networking.k8s.io',
          kind: 'Gateway',
          name: gatewayName,
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

const certificate = ({ name }: Host): Manifest =>
  manifest('cert-manager.io/v1', 'Certificate', name, part, {
    spec: {
      secretName: secretOf(name),
      dnsNames: [hostOf(name, BASE_DOMAIN)],
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      usages: ['digital signature', 'server auth'],
      issuerRef: { name: site.publicIssuer, kind: 'ClusterIssuer', group: 'cert-manager.io' },
    },
  });

/** The ways in, each host with its own certificate. */
export const gatewayManifests = (): readonly Manifest[] =>
  gateways.flatMap((one) => [
    gateway(one),
    ...one.hosts.map((host) => route(one.name, host)),
    ...one.hosts.map(certificate),
  ]);
