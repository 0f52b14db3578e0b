import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const decoded = (text: string) => Buffer.from(text.trim(), 'base64').toString('utf8');

it('x-module gives the header of a payin, as docs/api shows it', async () => {
  const line = commandLine();
  const payin = ['--amount', '100.50', '--reference', 'order-1', '--number', '2207001234'];
  expect(await line.run('x-module', ...payin)).toBe(0);
  expect(line.printed()).toBe('MTAwLjUwb3JkZXItMTIyMDcwMDEyMzQ=\n');
  expect(line.requests).toEqual([]);
});

it('x-module gives the header of a status check from the reference alone', async () => {
  const line = commandLine();
  expect(await line.run('x-module', '--reference', 'order-1')).toBe(0);
  expect(decoded(line.printed())).toBe('order-1');
});

it.each(['1e2', '100', '0.5'])('an amount stays as the body writes it: %s', async (amount) => {
  const line = commandLine();
  expect(await line.run('x-module', '--amount', amount, '--reference', 'o', '--number', '+220700123')).toBe(
    0,
  );
  expect(decoded(line.printed())).toBe(`${amount}o+220700123`);
});

it.each([
  [['--reference', 'o', '--amount', '1'], /^pesewa: --number: /],
  [['--reference', 'o', '--number', '2207001234'], /^pesewa: --amount: /],
  [['--reference', 'a b'], /^pesewa: --reference: /],
  [
    ['--reference', 'o', '--number', '2207001234', '--amount', '2,500.00'],
    /^pesewa: --amount: 2,500.00 is no JSON number/,
  ],
  [['--reference', 'o', '--number', '220 700', '--amount', '1'], /^pesewa: --number: .* no customerNumber/],
  [[], /--reference/],
])('x-module %j is refused', async (options, complaint) => {
  const line = commandLine();
  expect(await line.run('x-module', ...options)).toBe(1);
  expect(line.complained()).toMatch(complaint);
  expect(line.printed()).toBe('');
});
