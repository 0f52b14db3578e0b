import { type LookupResult, type NotSent, railSettings as readSettings } from '@pesewa/rails';
import { beforeEach, describe, expect, it } from 'vitest';
import { directRail, railSettings } from '../fixtures/rail.ts';
import { backOffWhenTurnedAway } from './rail-back-off.ts';

const query = { reference: 'po-1', currency: 'GHS' };
const turnedAway = (retryAfterMs: number): LookupResult => ({
  kind: 'unknown',
  why: 'HTTP 429',
  retryAfterMs,
});

let nowMs: number;
let direct: ReturnType<typeof open>;

function open() {
  const { rails, answers, circuit } = directRail(readSettings.parse(JSON.stringify([railSettings])));
  const [real] = rails.all;
  if (!real) throw new Error('no rail');
  const rail = backOffWhenTurnedAway({ ...real, findTakenOnAtMs: async () => null }, { nowMs: () => nowMs });
  const ask = (answer: LookupResult | NotSent, how: 'lookUp' | 'check' = 'lookUp') => {
    answers.set(query.reference, answer);
    return how === 'lookUp'
      ? rail.payouts?.lookUp(query)
      : rail.collections?.check({ ...query, country: 'GHA' });
  };
  return { rail, ask, circuit };
}

beforeEach(() => {
  nowMs = 1_000_000;
  direct = open();
});

describe('a rail that turns a question away', () => {
  it.each(['lookUp', 'check'] as const)('backs off for so long as it says (%s)', async (how) => {
    const { rail, ask } = direct;
    expect(await ask(turnedAway(600_000), how)).toEqual(turnedAway(600_000));
    expect(rail.isAvailable()).toBe(false);
    nowMs += 599_999;
    expect(rail.isAvailable()).toBe(false);
    nowMs += 1;
    expect(rail.isAvailable()).toBe(true);
  });

  it('backs off for the longest that its answers to what was under way name', async () => {
    const { rail, ask } = direct;
    await ask(turnedAway(60_000));
    nowMs += 100;
    await ask(turnedAway(1_000));
    await ask({ kind: 'pending' });
    nowMs += 59_000;
    expect(rail.isAvailable()).toBe(false);
    nowMs += 1_000;
    expect(rail.isAvailable()).toBe(true);
  });

  it('backs off no longer because the clock was set back', async () => {
    const { rail, ask } = direct;
    await ask(turnedAway(60_000));
    nowMs -= 3_600_000;
    expect(rail.isAvailable()).toBe(true);
    await ask(turnedAway(1_000));
    nowMs += 1_000;
    expect(rail.isAvailable()).toBe(true);
  });
});

it.each<LookupResult | NotSent>([
  { kind: 'unknown', why: 'timeout' },
  { kind: 'notSent', why: 'rate limit of the rail', retryAfterMs: 60_000 },
  { kind: 'notFound' },
])('a rail goes on after %o, unless its circuit is open', async (answer) => {
  const { rail, ask, circuit } = direct;
  await ask(answer);
  expect(rail.isAvailable()).toBe(true);
  circuit.isOpen = true;
  expect(rail.isAvailable()).toBe(false);
});
