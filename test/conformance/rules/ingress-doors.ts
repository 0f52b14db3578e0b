import { eventually } from '@pesewa/testkit';
import { beforeAll, describe, expect, it } from 'vitest';
import { callbackBody, ingress, railWith, type Sent, secrets, signed, type Target } from '../ingress.ts';

const PAID = 200;
const OTHER = 201;
const listed = ['x-forwarded-for', '203.0.113.7'];

/** The doors of the rail of the payments: the ingress under test, and two that are closed. */
type Door = 'open' | 'addresses' | 'secrets';

/** Who sends a callback about a collection, and what becomes of that. */
interface Sender {
  readonly who: string;
  readonly door: Door;
  readonly rail?: string;
  readonly headers?: (body: string) => readonly string[];
  readonly amount?: number;
  readonly answer: 200 | 401 | 403;
  readonly becomes: 'held up' | 'untouched' | 'ended';
}

const outcomes: Readonly<Record<Sender['becomes'], object>> = {
  'held up': { status: 'PENDING', polled: true, breaks: ['collection.amount_differs'] },
  untouched: { status: 'COMPLETED', polled: true, breaks: [] },
  ended: { status: 'COMPLETED', polled: false, breaks: [] },
};

/** The rows of the table of ADR 6, each with those who are none of its. */
const senders: readonly Sender[] = [
  { who: 'any sender, at a rail with addresses', door: 'addresses', answer: 403, becomes: 'untouched' },
  { who: 'any sender, at a rail with secrets', door: 'secrets', answer: 401, becomes: 'untouched' },
  { who: 'any sender, at a rail with neither', door: 'open', answer: 200, becomes: 'held up' },
  {
    who: 'who sends from a listed address of the rail',
    door: 'addresses',
    headers: () => listed,
    answer: 200,
    becomes: 'held up',
  },
  {
    who: 'who sends from a listed address of another rail',
    door: 'open',
    rail: 'local',
    answer: 200,
    becomes: 'untouched',
  },
  {
    who: 'who has a signing secret of the rail',
    door: 'secrets',
    headers: (body) => signed(body, secrets.proven),
    answer: 200,
    becomes: 'held up',
  },
  {
    who: 'who has a signing secret of another rail',
    door: 'open',
    rail: 'signed',
    headers: (body) => signed(body, secrets.current),
    answer: 200,
    becomes: 'untouched',
  },
  {
    who: 'who has a signing secret of the rail, which is proven, and claims what was asked for',
    door: 'secrets',
    headers: (body) => signed(body, secrets.proven),
    amount: PAID,
    answer: 200,
    becomes: 'ended',
  },
];

describe('ADR 6: who can hold up a collection', () => {
  const targets = new Map<string, Target>();
  const answers = new Map<string, number>();
  const targetOf = ({ who }: Sender): Target => {
    const target = targets.get(who);
    if (!target) throw new Error(`there is no collection of ${who}`);
    return target;
  };

  beforeAll(async () => {
    const { replicate } = ingress.scenario.stack;
    const closed = async (rail: object): Promise<string> =>
      (await replicate('webhook-ingress', { RAILS: JSON.stringify([railWith(rail)]), TRUSTED_PROXIES: '1' }))
        .url;
    const doors: Readonly<Record<Door, string | undefined>> = {
      open: undefined,
      addresses: await closed({ callbackAddresses: ['203.0.113.0/24'] }),
      secrets: await closed({ callbackSecrets: [secrets.proven], callbacks: 'proven' }),
    };
    await Promise.all(
      senders.map(async (sender, index) => {
        // Pending at the rail for ten seconds, then paid, without a callback of the rail's own.
        const target = await ingress.collect(`door-${index}`, '0008');
        targets.set(sender.who, target);
        const body = callbackBody('collections', target.ours, {
          status: 'COMPLETED',
          amount: sender.amount ?? OTHER,
        });
        const url = doors[sender.door];
        const sent: Sent = {
          rail: sender.rail ?? 'upstream',
          kind: 'collections',
          body,
          headers: sender.headers?.(body) ?? [],
          ...(url !== undefined && { url }),
        };
        answers.set(sender.who, (await ingress.send(sent)).status);
      }),
    );
  });

  it.each(senders)('$who: $becomes', async (sender) => {
    const { look, ours } = targetOf(sender);
    expect(answers.get(sender.who)).toBe(sender.answer);
    // The rail's answer names no amount, so it can't undo what was claimed; a proven claim of what was asked needs none.
    const outcome = await eventually(async () => {
      // The status comes first: what has led to it is there once it shows.
      const { status } = await look();
      const breaks = await ingress.breaks(ours);
      const polled = (await ingress.timeline(ours)).some((line) => line.startsWith('poll completed'));
      const isUndecided = breaks.includes('collection.amount_differs');
      expect(status === 'COMPLETED' || (isUndecided && polled)).toBe(true);
      return { status, polled, breaks: isUndecided ? ['collection.amount_differs'] : breaks };
    }, 60_000);
    expect(outcome).toEqual(outcomes[sender.becomes]);
  });
});
