import type { CollectionRequest, PayoutRequest } from '@pesewa/stack';
import { type Chance, createChance } from './chance.ts';
import { chooseSwarm, type Fault, planFaults, type Swarm } from './faults.ts';

/** A merchant's action at a time. */
export type Act = { readonly atMs: number; readonly merchantId: string } & (
  | {
      readonly kind: 'payout';
      readonly request: PayoutRequest;
      /** How many requests of the same are sent at once. */
      readonly times: number;
      readonly next: Next;
    }
  | { readonly kind: 'batch'; readonly reference: string; readonly requests: readonly PayoutRequest[] }
  | {
      readonly kind: 'collection';
      readonly request: CollectionRequest;
      readonly times: number;
      readonly next: Next;
      /** The code of an OTP flow, null where the flow has none; absent where nothing is to be completed. */
      readonly otp?: string | null;
      /** Wrong codes that the customer enters first. */
      readonly wrongCodes: number;
    }
);

/** The merchant's next step after its answer: nothing, the same again, or other content under the same reference. */
type Next = 'nothing' | 'repeat' | 'other';

/** Everything that a seed decides. */
export interface Plan {
  readonly seed: number;
  readonly swarm: Swarm;
  readonly faults: readonly Fault[];
  readonly acts: readonly Act[];
}

const payoutPlaces = [
  { currency: 'NGN', country: 'Nigeria' },
  { currency: 'GHS', country: 'Ghana' },
  { currency: 'GMD', country: 'Gambia' },
] as const;

const mobileOperators = [
  { operatorCode: 'KESAF', country: 'KE', currency: 'KES', number: '25471234' },
  { operatorCode: 'CIWAV', country: 'CI', currency: 'XOF', number: '225070712' },
  { operatorCode: 'GMAFR', country: 'GM', currency: 'GMD', number: '220345', otp: null },
  { operatorCode: 'GMQMO', country: 'GM', currency: 'GMD', number: '220346', otp: '123456' },
  { operatorCode: 'CIORA', country: 'CI', currency: 'XOF', number: '225070713', otp: '1234' },
] as const;

const misbehaving = [
  '0001',
  '0002',
  '0003',
  '0004',
  '0005',
  '0006',
  '0007',
  '0008',
  '0009',
  '0010',
  '0011',
  '0012',
  '0013',
  '0014',
  '0015',
  '0016',
] as const;

/** Plans a run: the seed decides what happens and when, but not how it interleaves. */
export function createPlan(seed: number, loadMs: number): Plan {
  const chance = createChance(seed);
  const swarm = chooseSwarm(chance);
  return {
    seed,
    swarm,
    faults: planFaults(chance, swarm, loadMs),
    acts: planActs(chance, swarm, loadMs),
  };
}

/** The part of a swarm that decides the merchants' actions. */
export type Load = Pick<Swarm, 'pauseMs' | 'misbehaving' | 'callbacksArrive'>;

/** Plans what merchants do while faults come and go. */
export function planActs(chance: Chance, swarm: Load, loadMs: number): readonly Act[] {
  const acts: Act[] = [];
  for (let atMs = 0; atMs < loadMs; atMs += chance.whole(0, 2 * swarm.pauseMs)) {
    acts.push(planAct(chance, swarm, atMs, `c${String(acts.length).padStart(5, '0')}`));
  }
  return acts;
}

function planAct(chance: Chance, swarm: Load, atMs: number, name: string): Act {
  const common = { atMs, merchantId: chance.happens(0.2) ? 'rival' : 'demo' };
  const next = chance.pick(['nothing', 'nothing', 'nothing', 'repeat', 'other'] as const);
  const times = chance.happens(0.1) ? 3 : 1;
  const sort = chance.fraction();
  if (sort < 0.45)
    return { ...common, kind: 'payout', request: payoutRequest(chance, swarm, name), times, next };
  if (sort < 0.55) {
    const { currency, country } = chance.pick(payoutPlaces);
    // Valid amounts only: the sum of a batch is computed from them.
    const requests = Array.from({ length: chance.whole(1, 6) }, (_, at) => ({
      ...payoutRequest(chance, swarm, `${name}.${at}`),
      currency,
      country,
      amount: chance.happens(0.01) ? TOO_MUCH : amountOf(chance, currency),
    }));
    return { ...common, kind: 'batch', reference: name, requests: maybeSpoiled(chance, requests) };
  }
  const { number, ...mobileOperator } = chance.pick(mobileOperators);
  const { otp } = { otp: undefined, ...mobileOperator };
  const { operatorCode, country, currency } = mobileOperator;
  const request: CollectionRequest = {
    reference: name,
    amount: amountOf(chance, currency),
    operatorCode,
    country,
    // Now and then one that the mobile operator does not serve: refused for good.
    currency: chance.happens(0.03) ? 'GHS' : currency,
    customerNumber: `${number}${digitsOf(chance, swarm)}`,
  };
  const wrongCodes = typeof otp === 'string' && chance.happens(0.15) ? chance.whole(1, 3) : 0;
  return {
    ...common,
    kind: 'collection',
    request,
    times,
    next,
    wrongCodes,
    ...(otp !== undefined && { otp }),
  };
}

/** More than any wallet holds. */
const TOO_MUCH = '99999999';

function payoutRequest(chance: Chance, swarm: Load, reference: string): PayoutRequest {
  const { currency, country } = chance.pick(payoutPlaces);
  return {
    reference,
    // Now and then one that no wallet could pay, or that is no amount.
    amount: chance.happens(0.03) ? chance.pick([TOO_MUCH, '0.001']) : amountOf(chance, currency),
    currency,
    country,
    accountNumber: `012345${digitsOf(chance, swarm)}`,
  };
}

/** Now and then one item is no payout: then the whole batch is none. */
function maybeSpoiled(chance: Chance, requests: readonly PayoutRequest[]): readonly PayoutRequest[] {
  if (!chance.happens(0.1)) return requests;
  return requests.map((request, at) => (at === 0 ? { ...request, bankCode: 'NOBANK' } : request));
}

function amountOf(chance: Chance, currency: string): string {
  const units = chance.whole(1, 60);
  if (currency === 'XOF') return String(units * 5);
  return `${units}.${String(chance.whole(0, 99)).padStart(2, '0')}`;
}

function digitsOf(chance: Chance, swarm: Load): string {
  if (!chance.happens(swarm.misbehaving)) return String(chance.whole(1_000, 9_999));
  if (chance.happens(0.03)) return '0017';
  const digits = chance.pick(misbehaving);
  // A reversal after the end is only reported by a callback or the daily close, so it is left out if callbacks may be
  // lost.
  return digits === '0014' && !swarm.callbacksArrive ? '9999' : digits;
}

/** What a plan should make happen. */
export function intentOf({ acts, faults }: Plan): {
  readonly payouts: number;
  readonly collections: number;
  readonly kills: number;
} {
  const payouts = acts.map((act) => {
    if (act.kind === 'collection') return 0;
    return act.kind === 'batch' ? act.requests.length : 1;
  });
  return {
    payouts: payouts.reduce((sum, count) => sum + count, 0),
    collections: acts.filter(({ kind }) => kind === 'collection').length,
    kills: faults.filter(({ kind }) => kind === 'kill').length,
  };
}
