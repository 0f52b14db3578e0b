// Writes a bill of materials (CycloneDX) for each service, all services in one process and the command line:
// `npm run sbom -- DIRECTORY`, or `.pesewa/sbom`.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot, runCommand } from './command.ts';

const directory = path.resolve(process.argv[2] ?? path.join(repositoryRoot, '.pesewa', 'sbom'));
mkdirSync(directory, { recursive: true });
const filters = ['./services/*', '@pesewa/cli', '@pesewa/compact'].map((name) => `--filter=${name}`);
const form = ['--sbom-format=cyclonedx', '--sbom-spec-version=1.6', '--sbom-type=application', '--split'];
const out = `--out=${path.join(directory, '%s.cdx.json')}`;
const { code } = await runCommand('pnpm', [...filters, 'sbom', '--prod', ...form, out], { show: true });
process.exitCode = code;
