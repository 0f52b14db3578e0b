export { CliError } from './errors.ts';
export type { CliPorts, OpenedDirectory } from './ports.ts';
export { runProgram } from './program.ts';
