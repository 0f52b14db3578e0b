import type { Ask } from './operations.ts';
import type { CliPorts } from './ports.ts';

export interface Statements {
  readonly ask: Ask;
}

export function createStatements(_ports: Pick<CliPorts, 'progress'>, ask: Ask): Statements {
  return { ask };
}
