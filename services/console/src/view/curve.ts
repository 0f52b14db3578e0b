import { html } from 'hono/html';
import type { Html } from './html.ts';

/** A point of a curve: a time, and an amount in decimal text. */
export interface Point {
  readonly at: string;
  readonly amount: string;
}

/**
 * The curve of an amount over time, the oldest point first; what it shows is said in words, and its points are a table.
 * Numbers are for drawing alone: what people read is the exact text.
 */
export function curve(options: {
  readonly finding: string;
  readonly points: readonly Point[];
  readonly currency: string;
  readonly zone: string;
  readonly table: Html;
}): Html {
  const { finding, points, currency, zone, table } = options;
  const x = points.map(({ at }) => Math.floor(Date.parse(at) / 1_000));
  const data = { zone, currency, x, y: points.map((point) => Number(point.amount)) };
  return html`<figure class="curve"><figcaption>${finding}</figcaption>
<div class="plot" data-curve="${JSON.stringify(data)}" aria-hidden="true"></div>
<details><summary>The same as a table</summary>${table}</details></figure>`;
}
