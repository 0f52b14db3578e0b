import { html } from 'hono/html';
import type { Html } from './html.ts';

/** A point of a curve: a time, and an amount in decimal text. */
export interface Point {
  readonly at: string;
  readonly amount: string;
}

/** A small curve with the line of zero, the oldest point first; what it shows is said in words, and numbers only draw it. */
export function sparkline(points: readonly Point[], finding: string): Html {
  const values = points.map(({ amount }) => Number(amount));
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const y = (value: number) => Math.round(44 - (40 * (value - low)) / (high - low || 1));
  const x = (index: number) => Math.round((200 * index) / Math.max(1, values.length - 1));
  const line = values.map((value, index) => `${x(index)},${y(value)}`).join(' ');
  return html`<svg class="spark" viewBox="0 0 200 48" role="img" aria-label="${finding}"><path d="M0 ${y(0)}H200"/><polyline points="${line}"/></svg>`;
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
