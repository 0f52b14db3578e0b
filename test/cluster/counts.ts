import type { Violation } from '../chaos/checker/rules.ts';
import { isEnded, type World } from '../chaos/checker/world.ts';
import type { Struck } from './break-nodes.ts';

/** The result of a run in numbers. */
export interface Counts {
  /** Payments on record. */
  readonly accepted: number;
  readonly ended: number;
  /** Those that are open and should not be. */
  readonly stuck: number;
  /** Requests that were refused for good, and answers that left the outcome open. */
  readonly refused: number;
  readonly ambiguous: number;
  /** How often each kind of strike was done, as in `kill broker`. */
  readonly strikes: Readonly<Record<string, number>>;
  /** Null if it did not come to rest. */
  readonly restedAfterSeconds: number | null;
  /** Events that are in a database and in no topic, by the entry or the rule that misses them. */
  readonly unpublished: Readonly<Record<string, number>>;
  /** Currencies whose wallet at the rail differs from the books. */
  readonly drifted: number;
  /** The number of breaks by kind and state. */
  readonly breaks: Readonly<Record<string, number>>;
  /** The number of violations by rule. */
  readonly violations: Readonly<Record<string, number>>;
}

function countBy<Item>(items: readonly Item[], key: (item: Item) => string): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(items, key)].map(([name, all]) => [name, all.length]));
}

const openRules: ReadonlySet<string> = new Set(['P1 left open', 'P1 unreported', 'R1 open, ended there']);
const unpublishedRules: ReadonlySet<string> = new Set([
  'L5 unpublished entry',
  'P8 unannounced',
  'P2 beginning',
  'P2 another end',
  'P2 another version',
]);

/** Counts the results of a run, for people to read. */
export function countsOf(
  world: World,
  violations: readonly Violation[],
  run: { readonly struck: readonly Struck[]; readonly restedAfterMs: number },
): Counts {
  const outcomes = countBy(world.calls, ({ outcome }) => outcome);
  return {
    accepted: world.payments.length,
    ended: world.payments.filter(isEnded).length,
    stuck: new Set(violations.filter(({ rule }) => openRules.has(rule)).map(({ reference }) => reference))
      .size,
    refused: outcomes['refused'] ?? 0,
    ambiguous: outcomes['ambiguous'] ?? 0,
    strikes: countBy(run.struck, ({ kind, node }) => `${kind} ${node}`),
    restedAfterSeconds: Number.isFinite(run.restedAfterMs) ? Math.round(run.restedAfterMs / 1_000) : null,
    unpublished: countBy(
      violations.filter(({ rule }) => unpublishedRules.has(rule)),
      ({ rule, what }) => (rule === 'L5 unpublished entry' ? what.slice(0, what.indexOf(',')) : rule),
    ),
    drifted: violations.filter(({ rule }) => rule === 'L13 float' || rule === 'X4 wallet moved').length,
    breaks: countBy(world.breaks, ({ kind, isOpen }) => `${kind} ${isOpen ? 'open' : 'resolved'}`),
    violations: countBy(violations, ({ rule }) => rule),
  };
}
