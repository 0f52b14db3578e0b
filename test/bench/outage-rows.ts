import type { Asked } from './fake-rail.ts';
import { against, alone, quantile, type Row } from './rows.ts';

/** How the backlog of a rail was worked off after an outage. */
export interface CatchUp {
  /** The backlog, the oldest due first. */
  readonly due: readonly string[];
  /** Every question from the rail's return until each payment of the backlog was asked about once. */
  readonly asked: readonly Asked[];
  /**
   * The times from due to first poll, of payments that came meanwhile, and of others without a backlog; milliseconds.
   */
  readonly fresh: readonly number[];
  readonly quiet: readonly number[];
  readonly returnedMs: number;
  /** When the last payment had ended here. */
  readonly finalisedMs: number;
  /** Requests of any kind during the outage. */
  readonly refused: number;
  readonly perSecond: number;
  readonly peakMib: number;
}

const MS_PER_SECOND = 1_000;

/** The rows for working off the backlog. */
export function outageRows(catchUp: CatchUp): readonly Row[] {
  const { due, returnedMs, finalisedMs, perSecond, peakMib } = catchUp;
  const many = due.length.toLocaleString('en');
  const least = due.length / perSecond;
  return [
    ...rateRows(catchUp),
    against({
      name: 'outage.asked',
      value: (lastMs(catchUp) - returnedMs) / MS_PER_SECOND,
      unit: 's',
      floor: least,
      detail: `until each of the ${many} was asked about, from the rail's return; floor: at the permitted rate; lower is better`,
    }),
    against({
      name: 'outage.finalised',
      value: (finalisedMs - returnedMs) / MS_PER_SECOND,
      unit: 's',
      floor: least,
      detail: `until all had ended by their owner's events; every fourth takes a second poll, half a minute later; floor as above; lower is better`,
    }),
    ...orderRows(catchUp),
    ...freshRows(catchUp),
    alone({
      name: 'outage.memory',
      value: peakMib,
      unit: 'MiB',
      detail: 'the most that the reconciler had resident, reading the backlog included',
    }),
  ];
}

const lastMs = ({ asked }: CatchUp): number => asked.at(-1)?.atMs ?? Number.NaN;

function rateRows(catchUp: CatchUp): readonly Row[] {
  const { due, asked, refused, perSecond } = catchUp;
  const firstMs = asked[0]?.atMs ?? Number.NaN;
  const backlog = new Set(due);
  const ofBacklog = asked.filter(({ reference }) => backlog.has(reference)).length;
  const again = ofBacklog - due.length;
  return [
    against({
      name: 'outage.rate',
      value: asked.length / ((lastMs(catchUp) - firstMs) / MS_PER_SECOND),
      unit: 'polls/s',
      floor: perSecond,
      detail:
        `${due.length.toLocaleString('en')} first polls of what became due over the last hour, ` +
        `${again} more of what was pending, ${asked.length - ofBacklog} of fresh ones; ${refused} requests while the rail was down; floor: the permitted rate`,
    }),
    against({
      name: 'outage.rate.most',
      value: mostInASecond(asked),
      unit: 'polls/s',
      floor: perSecond,
      detail:
        'the most that the rail saw within any one second; floor as above, which is never to be exceeded',
    }),
  ];
}

/** The most questions within any span of one second. */
function mostInASecond(asked: readonly Asked[]): number {
  let most = 0;
  let start = 0;
  for (const [end, { atMs }] of asked.entries()) {
    while (atMs - (asked[start]?.atMs ?? atMs) >= MS_PER_SECOND) start += 1;
    most = Math.max(most, end - start + 1);
  }
  return most;
}

/** How far the order of first polls is that of age. */
function orderRows({ due, asked, perSecond }: CatchUp): readonly Row[] {
  const ranks = new Map(due.map((reference, rank) => [reference, rank]));
  const isAsked = due.map(() => false);
  const displacements: number[] = [];
  let oldest = 0;
  let toOldest = 0;
  for (const { reference } of asked) {
    const rank = ranks.get(reference);
    if (rank === undefined || isAsked[rank]) continue;
    // The questions of one second are asked at once, in no order.
    if (rank < oldest + perSecond) toOldest += 1;
    displacements.push(Math.abs(rank - displacements.length) / due.length);
    isAsked[rank] = true;
    while (isAsked[oldest]) oldest += 1;
  }
  return [
    alone({
      name: 'outage.oldest-first',
      value: (100 * toOldest) / displacements.length,
      unit: '%',
      detail: `of first polls went to one of the oldest ${perSecond} of the backlog that were left`,
    }),
    alone({
      name: 'outage.displacement.p99',
      value: 100 * quantile(displacements, 0.99),
      unit: '%',
      detail: 'of the length of the backlog lie between the places of a payment by age and by its first poll',
    }),
  ];
}

function freshRows({ fresh, quiet }: CatchUp): readonly Row[] {
  return ([0.5, 0.99] as const).map((share) =>
    against({
      name: `outage.fresh.p${100 * share}`,
      value: quantile(fresh, share),
      unit: 'ms',
      floor: quantile(quiet, share),
      detail: `from due to asked, of ${fresh.length} payments that came meanwhile; floor: of ${quiet.length} without a backlog; lower is better`,
    }),
  );
}
