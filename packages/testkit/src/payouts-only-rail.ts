import type { Clock } from '@pesewa/kernel';
import { openRails, railSettingsOf, type Transport } from '@pesewa/rails';
import { type PayoutsOnlyPayment, payoutsOnly } from './payouts-only.ts';

/**
 * A rail of the connector `payouts-only`, in memory: what it was asked to pay stays at `waiting` until the test decides.
 * It has one bank, GHMTN, and a purse in GHS.
 */
export function openPayoutsOnlyRail(name: string, clock: Clock) {
  const payments = new Map<string, PayoutsOnlyPayment>();
  const requests: string[] = [];
  const transport: Transport = async ({ method, url, body }) => {
    const path = new URL(url).pathname;
    requests.push(`${method} ${path}`);
    const [status, answer] = answerTo(payments, path, body);
    return { status, retryAfter: undefined, bodyText: JSON.stringify(answer) };
  };
  const entry = { name, connector: 'payouts-only', url: 'http://payouts-only.test' };
  const settings = railSettingsOf({ 'payouts-only': payoutsOnly }).parse(JSON.stringify([entry]));
  return {
    rails: openRails(settings, { clock, transport }),
    requests,
    payments,
    decide: (id: string, state: PayoutsOnlyPayment['state']) => {
      const payment = payments.get(id);
      if (!payment) throw new Error(`the rail does not know ${id}`);
      payments.set(id, { ...payment, state });
    },
  };
}

function answerTo(
  payments: Map<string, PayoutsOnlyPayment>,
  path: string,
  body: string | undefined,
): readonly [status: number, body: unknown] {
  if (path === '/banks') return [200, [{ code: 'GHMTN', name: 'MTN', currency: 'GHS' }]];
  if (path === '/purses') return [200, [{ amount: '1000', currency: 'GHS' }]];
  const asked = JSON.parse(body ?? '{}') as Pick<PayoutsOnlyPayment, 'id' | 'amount'>;
  const known = payments.get(asked.id ?? path.split('/').at(-1) ?? '');
  if (body === undefined) return known ? [200, known] : [404, { state: 'unknown' }];
  if (known) return [409, { state: 'taken' }];
  const payment = { id: asked.id, amount: asked.amount, cost: '0.5', note: '', state: 'waiting' } as const;
  payments.set(asked.id, payment);
  return [200, payment];
}
