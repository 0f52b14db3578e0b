// Nothing to report here: tests may use the testkit.
import { given } from '@pesewa/testkit';
import { expect, it } from 'vitest';

it('sees the testkit', () => {
  expect(typeof given).toBe('function');
});
