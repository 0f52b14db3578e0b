import { it } from 'vitest';

it('proves nothing', () => {
  Math.abs(1);
});
