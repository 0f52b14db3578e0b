import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';

/** Fields as they were read. */
export type Fields = Record<string, unknown>;

/** An object as it is applied. */
export type Rendered = Fields & {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
};

/** What an overlay applies. */
export interface Installation {
  readonly name: string;
  readonly objects: readonly Rendered[];
}

/** The renderer that this machine has, if any: it comes with none of our packages. */
export const kustomize = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
].find(([command = '', argument = '']) => spawnSync(command, [argument, '--help']).status === 0);

/** Renders the overlay of a folder; whatever kustomize warns of is an error. */
export function render(directory: string): Installation {
  const [command, argument = ''] = kustomize ?? [];
  if (command === undefined) throw new Error('Rendering needs kubectl or kustomize: install one of them.');
  const { stdout, stderr } = spawnSync(command, [argument, directory], { encoding: 'utf8', maxBuffer: 1e8 });
  if (stderr !== '') throw new Error(stderr);
  const documents = parseAllDocuments(stdout, { version: '1.1' });
  return {
    name: path.basename(directory),
    objects: documents.map((document) => document.toJS() as Rendered),
  };
}

/** The value at a path of names and indexes. */
export const atSteps = (value: unknown, steps: readonly string[]): unknown =>
  steps.reduce<unknown>(
    (inner, step) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, step) : undefined),
    value,
  );

/** The value at a path of names and indexes separated by dots. */
export const at = (value: unknown, path: string): unknown => atSteps(value, path.split('.'));

/** The list at a path; empty if there is none. */
export const listAt = (value: unknown, steps: string): readonly Fields[] =>
  (at(value, steps) ?? []) as Fields[];

/** The fields at a path; empty if there are none. */
export const fieldsAt = (value: unknown, steps: string): Fields => (at(value, steps) ?? {}) as Fields;

/** Whether two values are equal, fields in the same order. */
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The objects of some kinds. */
export const ofKind = (objects: readonly Rendered[], ...kinds: readonly string[]): readonly Rendered[] =>
  objects.filter(({ kind }) => kinds.includes(kind));

/** The object of a kind and a name. */
export const named = (objects: readonly Rendered[], kind: string, name: string): Rendered | undefined =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

/** A Pod that an object creates, named by that object's kind and name. */
export interface Pod extends Rendered {
  readonly owner: string;
  readonly spec: Fields;
  readonly containers: readonly Fields[];
}

/** The Pods of all objects that create some, except those that operators create. */
export const podsOf = (objects: readonly Rendered[]): readonly Pod[] =>
  ofKind(objects, 'Deployment', 'StatefulSet', 'Job', 'CronJob').map(({ kind, metadata, spec }) => {
    const template = at(spec, kind === 'CronJob' ? 'jobTemplate.spec.template' : 'template');
    const labels = fieldsAt(template, 'metadata.labels') as Record<string, string>;
    return {
      kind: 'Pod',
      metadata: { name: `${kind} ${metadata.name}`, labels },
      owner: metadata.name,
      spec: fieldsAt(template, 'spec'),
      containers: [...listAt(template, 'spec.initContainers'), ...listAt(template, 'spec.containers')],
    };
  });

/** The variables that a container has of ConfigMaps. */
export const configurationOf = (
  objects: readonly Rendered[],
  container: unknown,
): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...listAt(container, 'envFrom').map((source) =>
      at(named(objects, 'ConfigMap', String(at(source, 'configMapRef.name'))), 'data'),
    ),
  ) as Record<string, string>;

/** A quantity of memory or storage in MiB; NaN if it is none. */
export function mebibytes(quantity: unknown): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|Ti)$/.exec(String(quantity)) ?? [];
  return Number(number) * ({ Mi: 1, Gi: 1_024, Ti: 1_048_576 }[unit] ?? Number.NaN);
}
