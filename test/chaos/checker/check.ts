import { checkAcceptance } from './acceptance.ts';
import { checkBatches } from './batches.ts';
import { checkBreaks, checkReconcilers } from './breaks.ts';
import { checkLife } from './lives.ts';
import { checkPurses, checkRail } from './rail.ts';
import type { Violation } from './rules.ts';
import { checkStrangers } from './strangers.ts';
import { checkWebhooks } from './webhooks.ts';
import { evidenceOf, type World } from './world.ts';

/**
 * Checks everything known after a run against the invariants, payment by payment (docs/invariants.md): P1 to P14, X1 to
 * X4, R1 to R3, W1 to W4 and L13 here; those of the books were checked by the audit in the world.
 */
export function checkWorld(world: World): readonly Violation[] {
  return [
    ...checkAcceptance(world),
    ...checkBatches(world),
    ...evidenceOf(world).flatMap((evidence) => [
      ...checkLife(evidence),
      ...checkRail(evidence),
      ...checkBreaks(evidence),
      ...checkWebhooks(evidence),
    ]),
    ...checkReconcilers(world),
    ...checkStrangers(world),
    ...checkPurses(world),
    ...world.books.map(
      ({ invariant, subject, message }): Violation => ({
        rule: 'books',
        reference: subject,
        what: `${invariant}: ${message}`,
      }),
    ),
  ];
}
