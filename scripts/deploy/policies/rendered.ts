/** Fields as they were read. */
export type Fields = Record<string, unknown>;

/** An object as it is to be applied. */
export type Rendered = Fields & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
  };
};

/** What lies at a path of names and places with dots; a name with dots can't be said so. */
export function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .filter((step) => step !== '')
    .reduce<unknown>(
      (inner, step) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined),
      value,
    );
}

/** The list at a path; an empty one where there is none. */
export function listAt(value: unknown, path: string): readonly Fields[] {
  const found = at(value, path);
  return Array.isArray(found) ? (found as Fields[]) : [];
}

/** The text at a path; an empty one where there is none. */
export function textAt(value: unknown, path: string): string {
  const found = at(value, path);
  return typeof found === 'string' ? found : '';
}

/** The number at a path; not a number where there is none. */
export function numberAt(value: unknown, path: string): number {
  const found = at(value, path);
  return typeof found === 'number' ? found : Number.NaN;
}

/** Whether two values are the same, in whatever order their fields are. */
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

/** The Deployment that is no service: people start its Pod, and nobody counts on it. */
export const OPERATOR_TOOLS = 'operator-tools';

/** What runs services, and only that. */
export const servicesOf = (objects: readonly Rendered[]): readonly Rendered[] =>
  ofKind(objects, 'Deployment', 'StatefulSet').filter(({ metadata }) => metadata.name !== OPERATOR_TOOLS);

/** The object of a kind and a name. */
export const named = (objects: readonly Rendered[], kind: string, name: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

/** What an object asks for. */
export const specOf = (object: Fields | undefined): Fields => at(object, 'spec') as Fields;

/** Takes an object away, as a violation does. */
export const remove = (objects: Rendered[], kind: string, name: string): void =>
  void objects.splice(
    objects.findIndex((object) => object.kind === kind && object.metadata.name === name),
    1,
  );

/** A Pod that an object makes. */
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

/** The Pods of everything that makes some, but for those that operators make. */
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

/** A quantity of memory or storage in MiB; not a number where it is none. */
export function mebibytes(quantity: unknown): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|Ti)$/.exec(String(quantity)) ?? [];
  return unit === '' ? Number.NaN : Number(number) * { Mi: 1, Gi: 1_024, Ti: 1_048_576 }[unit as 'Mi'];
}

/** An installation as rules look at it. */
export interface Installation {
  readonly name: string;
  readonly objects: readonly Rendered[];
}

/** A rule: what it asks for, and what breaks it, one line each. */
export interface Rule {
  readonly name: string;
  readonly check: (installation: Installation) => readonly string[];
  /** Changes that must make it fire, each on a copy. */
  readonly violations: readonly ((objects: Rendered[]) => void)[];
}
