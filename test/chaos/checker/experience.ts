import { isEnded, type World } from './world.ts';

/** What a run was planned to go through. */
export interface Intent {
  /** How many payments each API should get, and how many processes should be killed. */
  readonly payouts: number;
  readonly collections: number;
  readonly kills: number;
}

/** A kill as it happened: the process before, and the one after. */
interface Kill {
  readonly service: string;
  readonly before: number;
  readonly after: number;
}

/** What a run missed of its plan: without it, a checker that finds nothing would prove nothing. */
export function missedBy(world: World, intent: Intent, kills: readonly Kill[]): readonly string[] {
  const taken = (api: string) => {
    const calls = world.calls.filter(
      (call) => call.api === api && (call.outcome === 'accepted' || call.outcome === 'ended'),
    );
    return calls.reduce((sum, { items }) => sum + Math.max(1, items.length), 0);
  };
  const ended = world.payments.filter(isEnded).length;
  const least: readonly (readonly [what: string, count: number, least: number])[] = [
    ['payouts accepted', taken('payout'), intent.payouts / 2],
    ['collections accepted', taken('collection'), intent.collections / 2],
    ['payments ended', ended, (intent.payouts + intent.collections) / 2],
    ['executions by the rail', world.moves.filter(({ kind }) => kind === 'execution').length, ended / 2],
    ['callbacks stored', world.callbacks.length, 1],
    ['webhooks received', world.received.length, ended / 2],
    ['processes killed', kills.length, intent.kills],
    ['processes started again', kills.filter(({ before, after }) => before !== after).length, intent.kills],
  ];
  return least
    .filter(([, count, wanted]) => count < wanted)
    .map(([what, count, wanted]) => `${what}: ${count}, not ${Math.ceil(wanted)}`);
}
