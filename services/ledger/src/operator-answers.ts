import { z } from 'zod';

/** The name of a merchant or a rail, as an operator writes it. */
export const name = z.string({ error: 'is required' }).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'must start with a letter or digit and have 1 to 64 letters, digits, dots, underscores or hyphens',
});
