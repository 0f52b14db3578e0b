import { describe, expect, it } from 'vitest';
import { type Merchant, signingSecrets, withNewSecret } from './merchant.ts';

describe('the secrets that sign', () => {
  const secrets = ['newest', 'before'];

  it.each([
    ['just before the end of the grace time', 999, secrets],
    ['at its end', 1_000, ['newest']],
  ])('%s', (_, nowMs, signing) => {
    expect(signingSecrets({ secrets, previousUntil: new Date(1_000) }, nowMs)).toEqual(signing);
  });

  it('are kept for the grace time by a new one, and never come back', () => {
    let webhooks: Merchant['webhooks'] = { payoutsUrl: null, collectionsUrl: null, secrets: ['first'] };
    const rotate = (secret: string, graceMs: number, nowMs: number) => {
      webhooks = withNewSecret(webhooks, secret, { graceMs, nowMs });
      return webhooks.secrets;
    };
    expect(rotate('second', 1_000, 0)).toEqual(['second', 'first']);
    expect(webhooks.previousUntil).toEqual(new Date(1_000));
    expect(rotate('third', 1_000, 999)).toEqual(['third', 'second', 'first']);
    expect(rotate('fourth', 1_000, 1_999)).toEqual(['fourth', 'third']);
    expect(rotate('fifth', 0, 2_000)).toEqual(['fifth']);
    expect(webhooks).not.toHaveProperty('previousUntil');
    for (let count = 0; count < 5; count += 1) rotate(`more-${count}`, 1_000, 3_000);
    expect(webhooks.secrets).toEqual(['more-4', 'more-3', 'more-2', 'more-1']);
  });

  it('are the newest alone without a grace time', () => {
    expect(signingSecrets({ secrets }, 0)).toEqual(['newest']);
  });
});
