import type { Environment } from '@pesewa/runtime';

/** The environment of this process; no other file reads it. */
export const environment: Environment = process.env;

const FILE = '_FILE';
const baseOf = (variable: string): string =>
  variable.endsWith(FILE) ? variable.slice(0, -FILE.length) : variable;

/** The beginning of the names of variables that are of one service alone: `PAYOUT_GATEWAY__`. */
const prefixOf = (service: string): string => `${service.replaceAll('-', '_').toUpperCase()}__`;

/**
 * The variables of one service: those with its name before them, as `LEDGER__PORT`, and else those that all services
 * share. A variable of its own replaces the shared one whether either is given as a file or not.
 */
export function environmentOf(shared: Environment, service: string): Environment {
  const prefix = prefixOf(service);
  const own = Object.entries(shared)
    .filter(([variable]) => variable.startsWith(prefix))
    .map(([variable, value]) => [variable.slice(prefix.length), value] as const);
  const replaced = new Set(own.map(([variable]) => baseOf(variable)));
  const others = Object.entries(shared).filter(([variable]) => !replaced.has(baseOf(variable)));
  return Object.fromEntries([...others, ...own]);
}

/** The variables by which {@link environmentOf} gives one service these alone. */
export function variablesOf(
  service: string,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(own).map(([variable, value]) => [`${prefixOf(service)}${variable}`, value]),
  );
}
