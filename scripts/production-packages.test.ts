import { describe, expect, it } from 'vitest';
import { repositoryRoot } from './command.ts';
import { deployables, neededBy, readManifests } from './production-packages.ts';

const forTestsOnly = [
  '@pesewa/infrastructure',
  '@pesewa/stack',
  '@pesewa/testkit',
  'testcontainers',
  'vitest',
];

describe('production packages', () => {
  const manifests = readManifests(repositoryRoot);

  it.each(deployables(repositoryRoot))('%s needs nothing that is there for tests', (name) => {
    const needed = neededBy(manifests, `@pesewa/${name}`);
    expect(needed).toContain('zod');
    expect(forTestsOnly.filter((forbidden) => needed.has(forbidden))).toEqual([]);
  });

  it('follows dependencies of dependencies', () => {
    expect([...neededBy(manifests, '@pesewa/testkit')]).toEqual(
      expect.arrayContaining(['@pesewa/infrastructure', 'testcontainers']),
    );
  });
});
