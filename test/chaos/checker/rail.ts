import { executionsOf, isEnded, type RailMove, type Story, type Violation, type World } from './world.ts';

/** What the rail did for one payment, against what we say of it (X1 to X3, P12). */
export function checkRail(story: Story): readonly Violation[] {
  const { reference } = story.payment;
  const named = (invariant: string, whats: readonly string[]) =>
    whats.map((what) => ({ invariant, reference, what }));
  return [
    ...named('X1', executedOnce(story)),
    ...named('X2', attemptsFirst(story)),
    ...named('X3', askedFirst(story)),
    ...named('P12', agrees(story)),
  ];
}

/** X1: money moves at most once. */
function executedOnce(story: Story): readonly string[] {
  const times = executionsOf(story, 'COMPLETED');
  return times > 1 ? [`was executed ${times} times`] : [];
}

const isSubmission = ({ kind, operation }: RailMove) =>
  kind === 'request' && (operation === 'payout' || operation === 'payin');

/** X2: no request without an attempt that was committed before it. */
function attemptsFirst({ payment, moves }: Story): readonly string[] {
  const asked = moves.filter(isSubmission);
  const found: string[] = [];
  if (asked.length > payment.attempts)
    found.push(`the rail was asked ${asked.length} times, with ${payment.attempts} attempts on record`);
  if (asked.some(({ atMs }) => atMs < payment.acceptedAtMs))
    found.push('the rail was asked before it was accepted');
  return found;
}

/** X3: after an unclear attempt it is sent again only once the rail has said that it does not have it. */
function askedFirst({ moves }: Story): readonly string[] {
  let mayBeSent = true;
  for (const move of moves) {
    if (isSubmission(move)) {
      if (!mayBeSent) return ['was sent again, and the rail had not said NOT FOUND'];
      // What the rail turns away for want of room has certainly not happened.
      mayBeSent = move.outcome === 'too many requests';
    }
    if (move.kind === 'request' && move.outcome === 'NOT FOUND') mayBeSent = true;
  }
  return [];
}

/** P12: what the rail executed is not failed here, and what it did not is not completed. */
function agrees(story: Story): readonly string[] {
  const { payment, moves, entryKinds } = story;
  const isExecuted = executionsOf(story, 'COMPLETED') > 0;
  const found: string[] = [];
  if (isExecuted && payment.status === 'FAILED') found.push('is FAILED, and the rail executed it');
  else if (isExecuted && entryKinds.has('release'))
    found.push('its hold was released, and the rail executed it');
  if (!isExecuted && payment.status === 'COMPLETED')
    found.push('is COMPLETED, and the rail did not execute it');
  const isReversed = moves.some(({ kind }) => kind === 'reversal');
  if (payment.status === 'REVERSED' && !isReversed)
    found.push('is REVERSED, and the rail did not take it back');
  if (payment.status === 'COMPLETED' && isReversed) found.push('is COMPLETED, and the rail took it back');
  return found;
}

/** The rail's wallets against its journal and our float (X4, L12); `fees` are the rail's own. */
export function checkPurses({ purses, moves, payments, breaks }: World): readonly Violation[] {
  const undecided = undecidedOf(payments, breaks);
  return purses.flatMap(({ currency, before, after, float, suspense }) => {
    const moved = moves
      .filter((move) => move.currency === currency)
      .reduce((sum, move) => sum + effectOf(move), 0n);
    const found: Violation[] = [];
    const name = (invariant: string, what: string) => found.push({ invariant, reference: currency, what });
    if (before + moved !== after)
      name('X4', `the rail's wallet moved by ${after - before}, its executions by ${moved}`);
    const awaited = moves
      .filter((move) => move.currency === currency && undecided.has(move.reference))
      .reduce((sum, move) => sum + effectOf(move), 0n);
    if (float + awaited !== after)
      name('L12', `our float is ${float}, the rail's wallet ${after}, and ${awaited} waits to be decided`);
    if (suspense !== 0n) name('L12', `${suspense} is in suspense`);
    return found;
  });
}

/** Collections that their customers paid, and that wait for people to say how much (design 6). */
function undecidedOf(payments: World['payments'], breaks: World['breaks']): ReadonlySet<string> {
  const doubted = breaks.filter(({ kind, isOpen }) => isOpen && kind === 'collection.amount_differs');
  const references = new Set(doubted.map(({ reference }) => reference));
  const open = payments.filter((payment) => !isEnded(payment) && references.has(payment.reference));
  return new Set(open.map(({ reference }) => reference));
}

const PAYOUT_FEE_BASIS_POINTS = 50n;
const COLLECTION_FEE_BASIS_POINTS = 100n;

/** What a move adds to the rail's wallet: its fee is 0.5 % of a payout, 1 % of a collection, half up (design 6). */
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
