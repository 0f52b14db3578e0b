/** Fields as they were read. */
export type Fields = Record<string, unknown>;

/** An object as it is applied. */
export type Rendered = Fields & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
  };
};

/** The value at a path of names and indexes separated by dots; names with dots can't be given. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .filter((step) => step !== '')
    .reduce<unknown>(
      (inner, step) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined),
      value,
    );
}

/** The list at a path; empty if there is none. */
export function listAt(value: unknown, path: string): readonly Fields[] {
  const found = at(value, path);
  return Array.isArray(found) ? (found as Fields[]) : [];
}

/** The text at a path; empty if there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  return typeof found === 'string' ? found : '';
}

/** The number at a path; NaN if there is none. */
export function numberAt(value: unknown, path: string): number {
  const found = at(value, path);
  return typeof found === 'number' ? found : Number.NaN;
}

/** Whether two values are equal, whatever the order of their fields. */
export const isSame = (one: unknown, other: unknown): boolean => canonical(one) === canonical(other);

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? '';

/** The objects of a kind. */
export const ofKind = (objects: readonly Rendered[], ...kinds: readonly string[]): readonly Rendered[] =>
  objects.filter(({ kind }) => kinds.includes(kind));

/** The Deployment that is no service: people start its Pod when they need it. */
export const OPERATOR_TOOLS = 'operator-tools';

/** The objects that run services. */
export const servicesOf = (objects: readonly Rendered[]): readonly Rendered[] =>
  ofKind(objects, 'Deployment', 'StatefulSet').filter(({ metadata }) => metadata.name !== OPERATOR_TOOLS);

/** The object of a kind and a name. */
export const named = (objects: readonly Rendered[], kind: string, name: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

/** The `spec` of an object. */
export const specOf = (object: Fields | undefined): Fields => at(object, 'spec') as Fields;

/** Removes an object, for a violation. */
export const remove = (objects: Rendered[], kind: string, name: string): void =>
  void objects.splice(
    objects.findIndex((object) => object.kind === kind && object.metadata.name === name),
    1,
  );

/** A Pod that an object creates. */
export interface Pod {
  readonly owner: Rendered;
  readonly labels: Record<string, string>;
  readonly spec: Fields;
}

const TEMPLATES: Readonly<Record<string, string>> = {
  Deployment: 'spec.template',
  StatefulSet: 'spec.template',
  Job: 'spec.template',
  CronJob: 'spec.jobTemplate.spec.template',
};

/** The Pods of all objects that create some, except those that operators create. */
export const podsOf = (objects: readonly Rendered[]): readonly Pod[] =>
  objects.flatMap((owner) => {
    const template = at(owner, TEMPLATES[owner.kind] ?? 'none');
    if (template === undefined) return [];
    return [
      {
        owner,
        labels: at(template, 'metadata.labels') as Record<string, string>,
        spec: at(template, 'spec') as Fields,
      },
    ];
  });

/** All containers of a Pod. */
export const containersOf = ({ spec }: Pick<Pod, 'spec'>): readonly Fields[] => [
  ...listAt(spec, 'initContainers'),
  ...listAt(spec, 'containers'),
];

/** An object by kind and name, as people look for it. */
export const titleOf = ({ kind, metadata }: Rendered): string => `${kind} ${metadata.name}`;

/** A quantity of memory or storage in MiB; NaN if it is none. */
export function mebibytes(quantity: unknown): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|Ti)$/.exec(String(quantity)) ?? [];
  return unit === '' ? Number.NaN : Number(number) * { Mi: 1, Gi: 1_024, Ti: 1_048_576 }[unit as 'Mi'];
}

/** An installation, as rules read it. */
export interface Installation {
  readonly name: string;
  readonly objects: readonly Rendered[];
}

/** A rule: what it requires, and a line for each breach. */
export interface Rule {
  readonly name: string;
  readonly check: (installation: Installation) => readonly string[];
  /** Changes that must each break it, made on a copy. */
  readonly violations: readonly ((objects: Rendered[]) => void)[];
}
