// Writes a bill of materials (CycloneDX) for each service and for `pesewa`: `npm run sbom -- DIRECTORY`, or `.pesewa/sbom`.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot, runCommand } from './command.ts';
import { deployables } from './production-packages.ts';

/** Writes one file for each deployable into `directory`, and resolves with their paths. */
export const writeBills = async (directory: string): Promise<readonly string[]> => {
  await mkdir(directory, { recursive: true });
  const names = deployables(repositoryRoot);
  const filters = names.flatMap((name) => ['--filter', `@pesewa/${name}`]);
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
  return names.map((name) => path.join(directory, `pesewa-${name}.cdx.json`));
};

if (import.meta.main) {
  const directory = path.resolve(process.argv[2] ?? path.join(repositoryRoot, '.pesewa', 'sbom'));
  process.stdout.write(`${(await writeBills(directory)).join('\n')}\n`);
}
