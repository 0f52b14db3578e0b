// Writes `deploy/kubernetes` from the model in `scripts/deploy`, the services' settings and the table of services. With
// `--check` nothing is written: it names each file that differs or has no source, and the exit code is 1.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from './command.ts';
import { generateTree } from './deploy/tree.ts';
import { listSourceFiles } from './source-files.ts';

const ROOT = 'deploy/kubernetes';
const absolute = (file: string): string => path.join(repositoryRoot, ROOT, file);

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const tree = await generateTree();
const present = existsSync(absolute('')) ? listSourceFiles(repositoryRoot, ROOT) : [];
const orphans = present.map((file) => file.slice(ROOT.length + 1)).filter((file) => tree[file] === undefined);
const differing = Object.entries(tree).filter(
  ([file, text]) => !existsSync(absolute(file)) || readFileSync(absolute(file), 'utf8') !== text,
);

if (values.check) {
  for (const [file] of differing)
    process.stdout.write(`${ROOT}/${file} differs from what it is generated from: run npm run manifests\n`);
  for (const file of orphans)
    process.stdout.write(`${ROOT}/${file} is generated from nothing: run npm run manifests\n`);
  process.exitCode = differing.length + orphans.length === 0 ? 0 : 1;
} else {
  for (const file of orphans) rmSync(absolute(file));
  for (const [file, text] of differing) {
    mkdirSync(path.dirname(absolute(file)), { recursive: true });
    writeFileSync(absolute(file), text);
  }
  process.stdout.write(`${differing.length} files written, ${orphans.length} removed\n`);
}
