import { expect, it } from 'vitest';
import { readExpression } from './promql.ts';

it.each([
  ['up == 0', ['up']],
  ['sum by (kind) (rate(open_breaks{kind=~"a.b"}[10m] offset 1h)) > 1 and up == 1', ['open_breaks', 'up']],
  ['histogram_quantile(0.99, sum by (le) (rate(x_bucket{job=~"$job"}[$__rate_interval])))', ['x_bucket']],
  ['max_over_time(rate(a_total[1m])[1h:1m]) or absent(b)', ['a_total', 'b']],
  ['a unless on (job) group_left () b', ['a', 'b']],
])('%s names its metrics', (text, metrics) => {
  expect(readExpression(text)).toEqual({ metrics, problems: [] });
});

it.each([
  ['sum(rate(x[5m]', `can't be read at ""`],
  ['sum by kind (x)', `can't be read at "kind (x)"`],
  ['rate(x_total) > 0', 'rate needs a span of time'],
  ['max_over_time(x)', 'max_over_time needs a span of time'],
  ['{job="ledger"}', 'names no metric in "{job="ledger"}"'],
  ['1 > 0', 'asks for no metric'],
])('%s is refused', (text, problem) => {
  expect(readExpression(text).problems).toContain(problem);
});
