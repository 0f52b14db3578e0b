import { type Finding, type Violation, violationsOf } from './rules.ts';
import { type Evidence, executionsOf, isEnded, type RailMove, type World } from './world.ts';

/** Compares what the rail did for a payment with our records and entries (X1 to X3, P12, L5, L11). */
export function checkRail(evidence: Evidence): readonly Violation[] {
  return violationsOf(evidence.payment.reference, [
    ...executedOnce(evidence),
    ...attemptsFirst(evidence),
    ...askedFirst(evidence),
    ...agrees(evidence),
    ...sameSum(evidence),
    ...booked(evidence),
    ...published(evidence),
  ]);
}

/** The entries that an event of the ledger reports; those of fees go with another. */
const kindsWithEvent: ReadonlySet<string> = new Set(['hold', 'capture', 'release', 'collect', 'refund']);

/** L5: each entry of a payment is published. */
function published({ entryKinds, publishedKinds }: Evidence): readonly Finding[] {
  return [...entryKinds]
    .filter((kind) => kindsWithEvent.has(kind) && !publishedKinds.has(kind))
    .map(
      (kind): Finding => ['L5 unpublished entry', `has a ${kind}, and the ledger published no event for it`],
    );
}

/** X1: money moves at most once. */
function executedOnce(evidence: Evidence): readonly Finding[] {
  const times = executionsOf(evidence, 'COMPLETED');
  return times > 1 ? [['X1 executed twice', `was executed ${times} times`]] : [];
}

const isSubmission = ({ kind, operation }: RailMove) =>
  kind === 'request' && (operation === 'payout' || operation === 'payin');

/** X2: no request without an attempt that was committed before it. */
function attemptsFirst({ payment, moves }: Evidence): readonly Finding[] {
  const { attempts, acceptedAtMs } = payment;
  const asked = moves.filter(isSubmission);
  const found: Finding[] = [];
  if (asked.length > attempts)
    found.push([
      'X2 more requests than attempts',
      `the rail was asked ${asked.length} times, with ${attempts} attempts on record`,
    ]);
  if (asked.some(({ atMs }) => atMs < acceptedAtMs))
    found.push(['X2 request before acceptance', 'the rail was asked before it was accepted']);
  return found;
}

/** X3: after an unclear attempt it is sent again only once the rail has answered that it does not have it. */
function askedFirst({ moves }: Evidence): readonly Finding[] {
  let mayBeSent = true;
  for (const move of moves) {
    if (isSubmission(move)) {
      if (!mayBeSent)
        return [['X3 sent again unasked', 'was sent again, and the rail had not said NOT FOUND']];
      // A request that the rail refused for lack of capacity has certainly not been executed.
      mayBeSent = move.outcome === 'too many requests';
    }
    if (move.kind === 'request' && move.outcome === 'NOT FOUND') mayBeSent = true;
  }
  return [];
}

/** P12: a payment that the rail executed has not failed here, and one that it did not has not completed. */
function agrees(evidence: Evidence): readonly Finding[] {
  const { payment, moves, entryKinds } = evidence;
  const isExecuted = executionsOf(evidence, 'COMPLETED') > 0;
  const found: Finding[] = [];
  if (isExecuted && payment.status === 'FAILED')
    found.push(['P12 failed, executed', 'is FAILED, and the rail executed it']);
  else if (isExecuted && entryKinds.has('release'))
    found.push(['P12 released, executed', 'its hold was released, and the rail executed it']);
  if (!isExecuted && payment.status === 'COMPLETED')
    found.push(['P12 completed, not executed', 'is COMPLETED, and the rail did not execute it']);
  const isReversed = moves.some(({ kind }) => kind === 'reversal');
  if (payment.status === 'REVERSED' && !isReversed)
    found.push(['P12 reversed, not taken back', 'is REVERSED, and the rail did not take it back']);
  if (payment.status === 'COMPLETED' && isReversed)
    found.push(['P12 completed, taken back', 'is COMPLETED, and the rail took it back']);
  return found;
}

/** P12: what the rail moved is what was asked. */
function sameSum({ payment, moves }: Evidence): readonly Finding[] {
  const { amount, currency } = payment;
  return moves
    .filter(({ kind }) => kind === 'execution' || kind === 'reversal')
    .filter((move) => move.amount !== amount || move.currency !== currency)
    .map((move) => [
      'P12 another sum',
      `is of ${amount} ${currency}, and the rail moved ${move.amount} ${move.currency}`,
    ]);
}

/** The minimum entries of an ended payment; the audit checks that they add up and that there are no others. */
function booked({ payment, entryKinds, isRefused }: Evidence): readonly Finding[] {
  const { api, status } = payment;
  const isPaid = status === 'COMPLETED' || status === 'REVERSED';
  const missing = (kinds: readonly string[]) => kinds.filter((kind) => !entryKinds.has(kind));
  if (api === 'collection')
    return missing(isPaid ? ['collect'] : []).map((kind) => [
      'L11 missing entry',
      `is ${status}, and has no ${kind} in the ledger`,
    ]);
  const ended = {
    COMPLETED: ['hold', 'capture'],
    REVERSED: ['hold', 'capture', 'refund'],
    FAILED: isRefused ? [] : ['hold', 'release'],
  };
  return missing(status in ended ? ended[status as keyof typeof ended] : []).map((kind) => [
    'L5 missing entry',
    `is ${status}, and has no ${kind} in the ledger`,
  ]);
}

/** Compares the rail's wallets with its journal and our float (X4, L13); `fees` are the rail's own. */
export function checkPurses({ purses, moves, payments, breaks }: World): readonly Violation[] {
  const undecided = undecidedOf(payments, breaks);
  return purses.flatMap(({ currency, before, after, float, suspense }) => {
    const own = moves.filter((move) => move.currency === currency);
    const moved = own.reduce((sum, move) => sum + effectOf(move), 0n);
    const awaited = own
      .filter(({ reference }) => undecided.has(reference))
      .reduce((sum, move) => sum + effectOf(move), 0n);
    const found: Finding[] = [];
    if (before + moved !== after)
      found.push([
        'X4 wallet moved',
        `the rail's wallet moved by ${after - before}, its executions by ${moved}`,
      ]);
    if (float + awaited !== after)
      found.push([
        'L13 float',
        `our float is ${float}, the rail's wallet ${after}, and ${awaited} waits to be decided`,
      ]);
    if (suspense !== 0n) found.push(['L13 suspense', `${suspense} is in suspense`]);
    return violationsOf(currency, found);
  });
}

/** Collections that their customers paid, and that wait for people to say how much (ADR 23). */
function undecidedOf(payments: World['payments'], breaks: World['breaks']): ReadonlySet<string> {
  const differing = breaks.filter(({ kind, isOpen }) => isOpen && kind === 'collection.amount_differs');
  const references = new Set(differing.map(({ reference }) => reference));
  const open = payments.filter((payment) => !isEnded(payment) && references.has(payment.reference));
  return new Set(open.map(({ reference }) => reference));
}

const PAYOUT_FEE_BASIS_POINTS = 50n;
const COLLECTION_FEE_BASIS_POINTS = 100n;

/** What a move adds to the rail's wallet; its fee is 0.5 % of a payout, 1 % of a collection, rounded half up. */
function effectOf({ kind, operation, outcome, amount }: RailMove): bigint {
  if (kind === 'reversal') return amount;
  if (kind !== 'execution' || outcome !== 'COMPLETED') return 0n;
  return operation === 'payout'
    ? -amount - shareOf(amount, PAYOUT_FEE_BASIS_POINTS)
    : amount - shareOf(amount, COLLECTION_FEE_BASIS_POINTS);
}

function shareOf(amount: bigint, basisPoints: bigint): bigint {
  return (amount * basisPoints + 5_000n) / 10_000n;
}
