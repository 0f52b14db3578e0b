// Writes a bill of materials (CycloneDX) for each service and for `pesewa`: `npm run sbom -- DIRECTORY`, or `.pesewa/sbom`.
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot, runCommand } from './command.ts';

/** What is deployed: every service, all in one process, and the command line. */
export const deployables: readonly string[] = [
  ...readdirSync(path.join(repositoryRoot, 'services')).toSorted(),
  'cli',
  'compact',
];

/** Writes one file for each deployable into `directory`, and resolves with their paths. */
export const writeBills = async (directory: string): Promise<readonly string[]> => {
  await mkdir(directory, { recursive: true });
  const filters = deployables.flatMap((name) => ['--filter', `@pesewa/${name}`]);
  const form = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', 'application'];
  const { code, output } = await runCommand('pnpm', [
    ...filters,
    'sbom',
    '--prod',
    ...form,
    '--split',
    '--out',
    path.join(directory, '%s.cdx.json'),
  ]);
  if (code !== 0) throw new Error(`pnpm sbom ended with ${code}:\n${output}`);
  return deployables.map((name) => path.join(directory, `pesewa-${name}.cdx.json`));
};

if (import.meta.main) {
  const directory = path.resolve(process.argv[2] ?? path.join(repositoryRoot, '.pesewa', 'sbom'));
  process.stdout.write(`${(await writeBills(directory)).join('\n')}\n`);
}
