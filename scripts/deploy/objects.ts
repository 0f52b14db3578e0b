/** An object of Kubernetes, as it is written to a file. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Labels;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** The namespace of an installation: one per cluster, so that the names inside it are the same everywhere. */
export const NAMESPACE = 'pesewa';

/**
 * The purpose of a part, which decides when it is applied: first the platform, then what prepares, then the services.
 */
export type Component = 'platform' | 'prepare' | 'service' | 'maintenance';

/** The labels of a part of the hub. */
export const labelsOf = (name: string, component: Component): Labels => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/part-of': 'pesewa',
  'app.kubernetes.io/component': component,
});

/** The labels that select exactly the Pods of a service. */
export const selectorOf = (name: string): Labels => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/component': 'service',
});

/** Builds an object in our namespace; by default it is a part of what it is named after. */
export function manifest(
  apiVersion: string,
  kind: string,
  name: string,
  options: {
    readonly component: Component;
    readonly of?: string;
    readonly labels?: Labels;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly isClusterWide?: boolean;
  },
  fields: Readonly<Record<string, unknown>>,
): Manifest {
  const { component, of = name, labels, annotations, isClusterWide = false } = options;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(!isClusterWide && { namespace: NAMESPACE }),
      labels: { ...labelsOf(of, component), ...labels },
      ...(annotations && { annotations }),
    },
    ...fields,
  };
}
