import type { DecisionView } from '@pesewa/contracts';
import { displayAmount, parseAmount } from '@pesewa/kernel';

/** The consequences of an outcome once it is approved; nothing undoes them. */
const CONSEQUENCES = {
  failed:
    'once approved: its hold is released, the merchant hears FAILED, the rail is not asked again; if the rail pays all the same, that is our loss; an attempt that is newer than the proposal, and may still pay, keeps it open: look again, and propose again',
  completed:
    'once approved: its hold is captured, the merchant hears COMPLETED, the rail is not asked again; if the rail has not paid, the merchant has lost it',
} as const;

/** What both operators judge a decision by, by names: what was asked, claimed and proposed, why, and what it brings about. */
export function groundsOf(decision: DecisionView): readonly (readonly [name: string, value: string])[] {
  const { asked, claimed, amount, currency, outcome, note, despite } = decision;
  const money = (text: string | undefined) => text && displayAmount(text, currency);
  const proposed = asked && `${displayAmount(amount, currency)}, ${timesOf(amount, asked, currency)}`;
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['asked', money(asked)],
    ['claimed', money(claimed)],
    ['proposed', outcome === undefined ? proposed : undefined],
    [outcome === undefined ? 'note' : 'reason', note],
    ['despite', despite],
    ['effect', effectOf(decision)],
  ];
  return lines.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** What comes of a decided outcome once it is approved; undefined for a decided amount. */
export function consequenceOf({ outcome }: Pick<DecisionView, 'outcome'>): string | undefined {
  return outcome && CONSEQUENCES[outcome];
}

/** How a proposed amount compares with the one asked, such as `10,000 times what was asked`. */
function timesOf(proposed: string, asked: string, currency: string): string | undefined {
  const [one, other] = [parseAmount(proposed, currency), parseAmount(asked, currency)];
  if (!one.ok || !other.ok || other.value.minor <= 0n) return undefined;
  if (one.value.minor === other.value.minor) return 'as asked';
  const thousandths = (one.value.minor * 1_000n) / other.value.minor;
  const rest = (thousandths % 1_000n).toString().padStart(3, '0').replace(/0+$/, '');
  const whole = (thousandths / 1_000n).toLocaleString('en-GB');
  return `${whole}${rest === '' ? '' : `.${rest}`} times what was asked`;
}

/** How wallet and float move by it; undefined for decisions that were proposed before this was kept. */
function effectOf({ merchantId, rail, amount, currency, outcome }: DecisionView): string | undefined {
  if (merchantId === undefined || rail === undefined) return undefined;
  const money = displayAmount(amount, currency);
  const [wallet, float] = [`the wallet of ${merchantId}`, `our float at ${rail}`];
  if (outcome === 'failed') return `${wallet} gets back ${money} and our fee from held; ${float} stays`;
  return outcome === 'completed'
    ? `${wallet} loses ${money} and our fee from held; ${float} falls by ${money} and the rail's fee`
    : `${wallet} gets ${money} less our fee; ${float} grows by ${money} less the rail's fee`;
}
