// Formats and sorts imports in place; arguments narrow it to some paths.
import { runCommand, toolPath } from './command.ts';

const result = await runCommand(toolPath('biome'), ['check', '--write', ...process.argv.slice(2)], {
  show: true,
});
process.exitCode = result.code;
