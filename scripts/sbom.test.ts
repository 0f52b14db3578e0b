import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { repositoryRoot, runCommand } from './command.ts';

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly components: readonly {
    readonly purl?: string;
    readonly licenses?: readonly unknown[];
  }[];
}

const deployables = [...readdirSync(path.join(repositoryRoot, 'services')), 'cli', 'compact'];

/** Packages without a licence in their manifest: our own, and one with its licence (MIT) only in a file. */
const isKnown = (purl: string): boolean =>
  /^pkg:npm\/(?:%40pesewa\/|%40kafkajs\/confluent-schema-registry@)/.test(purl);

describe('bills of materials', () => {
  const bills = new Map<string, Bill>();
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'pesewa-sbom-'));
    const { code, output } = await runCommand(process.execPath, [
      path.join(repositoryRoot, 'scripts', 'sbom.ts'),
      directory,
    ]);
    if (code !== 0) throw new Error(output);
    for (const name of readdirSync(directory))
      bills.set(name, JSON.parse(await readFile(path.join(directory, name), 'utf8')) as Bill);
  });

  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each(deployables)(
    '%s: names each component by a purl with a version, and nothing that is for tests',
    (name) => {
      const bill = bills.get(`pesewa-${name}.cdx.json`);
      expect(bill?.bomFormat).toBe('CycloneDX');
      expect(bill?.metadata.component.purl).toMatch(new RegExp(`^pkg:npm/%40pesewa/${name}@`));
      const components = bill?.components ?? [];
      const purls = components.map(({ purl }) => purl ?? '');
      expect(purls.filter((purl) => !/^pkg:npm\/.+@\d/.test(purl))).toEqual([]);
      expect(purls).toEqual(expect.arrayContaining([expect.stringMatching(/^pkg:npm\/zod@/)]));
      expect(
        purls.filter((purl) =>
          /testcontainers|vitest|%40pesewa\/(?:infrastructure|stack|testkit)@/.test(purl),
        ),
      ).toEqual([]);
      const unlicensed = components.filter(({ licenses = [] }) => licenses.length === 0);
      expect(unlicensed.map(({ purl = '' }) => purl).filter((purl) => !isKnown(purl))).toEqual([]);
    },
  );
});
