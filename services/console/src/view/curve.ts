import { html } from 'hono/html';
import type { Html } from './html.ts';
import { table } from './table.ts';
import { amount, type TimeView, time } from './values.ts';

/** A point of a curve: a time, and an amount in decimal text. */
export interface Point {
  readonly at: string;
  readonly amount: string;
}

const ROWS_MAX = 100;

/**
 * The curve of an amount over time, the oldest point first; what it shows is said in words, and its points are a table.
 * Numbers are for drawing alone: what people read is the exact text.
 */
export function curve(options: {
  readonly finding: string;
  readonly points: readonly Point[];
  readonly currency: string;
  readonly times: TimeView;
}): Html {
  const { finding, points, currency, times } = options;
  const data = {
    zone: times.zone,
    currency,
    x: points.map(({ at }) => Math.floor(Date.parse(at) / 1_000)),
    y: points.map((point) => Number(point.amount)),
  };
  const rows = points.slice(-ROWS_MAX).toReversed();
  return html`<figure class="curve"><figcaption>${finding}</figcaption>
<div class="plot" data-curve="${JSON.stringify(data)}" aria-hidden="true"></div>
<details><summary>The same as a table</summary>${table({
    caption: 'Newest first',
    columns: ['Time', { title: 'Amount', isNumber: true }],
    rows: rows.map((point) => [time(point.at, times), amount(point.amount, currency)]),
    empty: 'No point yet.',
  })}</details></figure>`;
}
