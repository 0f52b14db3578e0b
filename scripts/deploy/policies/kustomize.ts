import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { at, type Fields, listAt, type Rendered, textAt } from './rendered.ts';

interface Patch {
  readonly target: {
    readonly group?: string;
    readonly version?: string;
    readonly kind: string;
    readonly name: string;
  };
  readonly patch: string;
}

interface Generator {
  readonly name: string;
  readonly namespace: string;
  readonly behavior?: 'merge';
  readonly envs?: readonly string[];
  readonly literals?: readonly string[];
  readonly options: { readonly immutable: boolean; readonly labels?: Record<string, string> };
}

interface Kustomization {
  readonly apiVersion: string;
  readonly kind: 'Kustomization' | 'Component';
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly Generator[];
  readonly images?: readonly { readonly name: string; readonly newTag?: string; readonly digest?: string }[];
  readonly patches?: readonly Patch[];
}

const KNOWN = new Set('apiVersion kind resources components configMapGenerator images patches'.split(' '));

/** A ConfigMap that is still to be generated. */
interface Generated extends Pick<Generator, 'name' | 'namespace' | 'options'> {
  readonly data: Record<string, string>;
}

/** The result so far: objects, and ConfigMaps whose names still lack their hash. */
interface Gathered {
  objects: Fields[];
  readonly generated: Map<string, Generated>;
}

/** Renders a directory as kustomize does, with the features that our manifests use; any other is refused. */
export function render(directory: string): readonly Rendered[] {
  const gathered: Gathered = { objects: [], generated: new Map() };
  gather(path.resolve(directory), gathered);
  return withGenerated(gathered) as readonly Rendered[];
}

function gather(directory: string, gathered: Gathered): void {
  const file = path.join(directory, 'kustomization.yaml');
  const kustomization = parse(readFileSync(file, 'utf8')) as Kustomization;
  const unknown = Object.keys(kustomization).find((field) => !KNOWN.has(field));
  if (unknown !== undefined) throw new Error(`${file}: ${unknown} is not rendered`);
  for (const resource of kustomization.resources ?? [])
    gatherResource(path.join(directory, resource), gathered);
  for (const generator of kustomization.configMapGenerator ?? []) generate(directory, generator, gathered);
  for (const component of kustomization.components ?? []) gather(path.join(directory, component), gathered);
  for (const patch of kustomization.patches ?? []) applyPatch(patch, gathered.objects);
  for (const object of gathered.objects) setImages(object, kustomization.images ?? []);
}

function gatherResource(resource: string, gathered: Gathered): void {
  if (!existsSync(resource)) throw new Error(`there is no ${resource}`);
  if (statSync(resource).isDirectory()) {
    gather(resource, gathered);
    return;
  }
  for (const document of parseAllDocuments(readFileSync(resource, 'utf8'), { version: '1.1' })) {
    const [error] = document.errors;
    if (error) throw error;
    gathered.objects.push(document.toJS() as Fields);
  }
}

function generate(directory: string, generator: Generator, { generated }: Gathered): void {
  const { name, namespace, behavior, envs = [], literals = [], options } = generator;
  const lines = [
    ...envs.flatMap((file) => readFileSync(path.join(directory, file), 'utf8').split('\n')),
    ...literals,
  ].filter((line) => line !== '' && !line.startsWith('#'));
  const data = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const former = generated.get(name);
  if ((former !== undefined) !== (behavior === 'merge'))
    throw new Error(`${name}: merged with nothing, or made twice`);
  generated.set(name, {
    name,
    namespace,
    data: { ...former?.data, ...data },
    options: { ...former?.options, ...options },
  });
}

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

function applyPatch({ target, patch }: Patch, objects: readonly Fields[]): void {
  const wanted = objects.filter(
    (object) => object['kind'] === target.kind && textAt(object, 'metadata.name') === target.name,
  );
  if (wanted.length !== 1)
    throw new Error(`${target.kind} ${target.name} is patched and there are ${wanted.length}`);
  for (const object of wanted)
    for (const operation of JSON.parse(patch) as Operation[]) apply(object, operation);
}

function apply(object: Fields, { op, path: pointer, value }: Operation): void {
  const steps = pointer.slice(1).split('/');
  const last = steps.pop() ?? '';
  const parent = at(object, steps.join('.'));
  if (typeof parent !== 'object' || parent === null) throw new Error(`${pointer} leads nowhere`);
  if (op !== 'add' && !(last in parent)) throw new Error(`${pointer} is not there`);
  if (op !== 'remove') Reflect.set(parent, last, value);
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else Reflect.deleteProperty(parent, last);
}

function setImages(value: unknown, images: NonNullable<Kustomization['images']>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) setImages(item, images);
    return;
  }
  const fields = value as Fields;
  for (const container of [...listAt(fields, 'containers'), ...listAt(fields, 'initContainers')]) {
    const found = images.find(({ name }) => name === container['image']);
    if (found)
      container['image'] =
        found.digest === undefined ? `${found.name}:${found.newTag}` : `${found.name}@${found.digest}`;
  }
  for (const inner of Object.values(fields)) setImages(inner, images);
}

const LETTERS: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

/** The end of a ConfigMap's name: kustomize's hash of its content. */
function hashOf(data: Readonly<Record<string, string>>): string {
  const sorted = Object.fromEntries(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  // The format of Go's JSON. kustomize looks for the name in another place and finds none, so it is empty here.
  const text = JSON.stringify({ data: sorted, kind: 'ConfigMap', name: '' }).replaceAll(
    /[<>&]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 10);
  return hex.replaceAll(/[013ae]/g, (character) => LETTERS[character] ?? character);
}

function withGenerated({ objects, generated }: Gathered): readonly Fields[] {
  const all = [...generated.values()];
  const configMaps = all.map(
    ({ name, namespace, data, options: { immutable, labels } }): Fields => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `${name}-${hashOf(data)}`, namespace, ...(labels && { labels }) },
      ...(immutable && { immutable }),
      data,
    }),
  );
  for (const object of objects) {
    // A reference is resolved in its own namespace.
    const near = all.filter(({ namespace }) => namespace === textAt(object, 'metadata.namespace'));
    rename(object, new Map(near.map(({ name, data }) => [name, `${name}-${hashOf(data)}`])));
  }
  return [...objects, ...configMaps];
}

function rename(value: unknown, names: ReadonlyMap<string, string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, inner] of Object.entries(value)) {
    const name = field === 'configMapRef' ? textAt(inner, 'name') : '';
    if (names.has(name)) Reflect.set(inner as Fields, 'name', names.get(name));
    rename(inner, names);
  }
}
