import { describe, expect, it } from 'vitest';
import { openThrowawayRepository } from './throwaway-repository.ts';

/** Runs a guard on the violations of the same name, expects it to fail, and gives its output. */
const failureOf = async (guard: string): Promise<string> => {
  await using repository = await openThrowawayRepository(guard);
  const { passed, output } = await repository.runGuard(guard);
  expect(passed, output).toBe(false);
  return output;
};

/** Lines of the form `file:line: advice` or `file: advice`, as `file:line` or `file`, sorted. */
const places = (output: string): readonly string[] =>
  output
    .split('\n')
    .flatMap((line) => /^([\w./-]+\.\w+(?::\d+)?): /.exec(line)?.[1] ?? [])
    .map((place) => place.replace('services/example/src/', ''))
    .sort();

describe('each guard fires', () => {
  it('format: quotes, semicolons and unsorted imports', async () => {
    const output = await failureOf('format');
    expect(output).toMatch(/src\/quotes\.ts format/);
    expect(output).toMatch(/src\/imports\.ts:1:1 assist\/source\/organizeImports/);
    expect(output).toContain('Found 2 errors.');
  });

  it('types: a wrong type', async () => {
    const output = await failureOf('types');
    expect(output).toContain('src/wrong-type.ts(1,14): error TS2322');
    expect(output).not.toContain('src/clean.ts');
  });

  it('boundaries: a service needing a service, a kernel needing more than nothing, a command needing a harness, ways around the manifest', async () => {
    const output = (await failureOf('boundaries'))
      .replaceAll(/\s*\n\s*\|\s*/g, ' ')
      .replaceAll('@pesewa/ ', '@pesewa/');
    expect(output).toContain(
      'Package `@pesewa/two` found with tag listed in denylist for `@pesewa/one`: `service`',
    );
    expect(output).toContain(
      'Package `@pesewa/foundation` found with tag listed in denylist for `@pesewa/kernel`',
    );
    expect(output).toContain(
      'Package `@pesewa/harness` found with tag listed in denylist for `@pesewa/command`',
    );
    expect(output).toContain('import `../../two/src/inside.ts` leaves the package');
    expect(output).toContain('cannot import package `undeclared-package` because it is not a dependency');
    expect(output).toContain('5 issues found');
  });

  it('dead-code: an unused file, dependency and export', async () => {
    const output = await failureOf('dead-code');
    expect(output).toMatch(/Unused files \(1\)\nservices\/example\/src\/orphan\.ts/);
    expect(output).toMatch(/Unused dependencies \(1\)\nzod/);
    expect(output).toMatch(/Unused exports \(1\)\nneverUsed/);
  });

  it('versions: two versions of one dependency', async () => {
    expect(await failureOf('versions')).toContain('Dependency zod has multiple versions');
  });

  it('tidy: each house rule, and nothing else', async () => {
    expect(places(await failureOf('tidy'))).toEqual([
      'body.ts:1',
      'body.ts:2',
      'class.ts:1',
      'conflict.md:3',
      'conflict.md:7',
      'float.ts:1',
      'index.ts',
      'machine-path.ts:1',
      'machine-path.ts:3',
      'reminder.ts:1',
      'route.ts:1',
      'services/console/src/assets/app.js:1',
      'services/console/src/pages/page.ts:1',
      'services/console/src/pages/page.ts:3',
      'services/console/src/pages/page.ts:4',
      'services/console/src/pages/page.ts:5',
      'services/console/src/pages/page.ts:6',
      'services/console/src/pages/page.ts:7',
      'sleep.test.ts:1',
      'sleep.test.ts:4',
    ]);
  });

  it('references: dead paths, links, packages, commands and identifiers, and no living one', async () => {
    const output = await failureOf('references');
    expect(places(output).filter((place) => /^(?:README|docs)/.test(place))).toEqual([
      'README.md:10',
      'README.md:11',
      'README.md:12',
      'README.md:15',
      'README.md:16',
      'README.md:6',
      'README.md:7',
      'README.md:8',
      'README.md:9',
      'docs/alive.md:1',
      'docs/alive.md:2',
      'docs/alive.md:2',
      'docs/alive.md:2',
      'docs/alive.md:3',
    ]);
    expect(output).toContain('README.md:12: no source has goneName');
    expect(output).toContain('docs/alive.md:3: no heading #nowhere in README.md');
    expect(output.split('\n').filter((line) => line.startsWith('CODEOWNERS'))).toEqual([
      'CODEOWNERS: no file packages/gone',
    ]);
  });

  it('references: citations that lead nowhere, in documents, comments, texts and titles, and no living one', async () => {
    const lines = (await failureOf('references')).split('\n');
    const citations = (file: string) =>
      lines.filter((line) => line.startsWith(file)).map((line) => line.slice(file.length + 1));
    expect(citations('docs/alive.md').slice(2)).toEqual([
      '2: docs/contract.md has no section 2',
      '2: docs/adr has no ADR 3',
      '2: docs/invariants.md has no L3',
    ]);
    expect(citations('packages/kernel/src/cited.ts')).toEqual([
      '3: docs/contract.md has no section 1.2',
      '5: docs/adr has no ADR 2',
      '6: docs/contract.md has no section 2.3',
      '7: docs/invariants.md has no P1',
      '8: docs/invariants.md has no X1',
      // Written with a character class, since this file is searched too.
      expect.stringMatching(/^9: this repository has no desig[n] 4$/),
      expect.stringMatching(/^10: this repository has no researc[h]\/$/),
      '14: docs/adr has no ADR 4',
      '19: docs/contract.md has no section 1.2',
    ]);
    expect(citations('packages/kernel/src/cited.test.ts')).toEqual([
      '2: docs/invariants.md has no L2',
      '3: docs/contract.md has no section 3',
      '4: docs/invariants.md has no E1',
    ]);
  });
});
