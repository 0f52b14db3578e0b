import { z } from 'zod';

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A required line of text without control characters. */
export function line(lengthMax: number): z.ZodType<string> {
  return z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
    .trim()
    .min(1, { error: 'is required' })
    .max(lengthMax, { error: `must have at most ${lengthMax} characters` })
    .refine((text) => !CONTROL_CHARACTERS.test(text), { error: 'must have no control characters' });
}

/** A line that may be left out: absent, null and empty are the same (design 4.2). */
export function optionalLine(lengthMax: number): z.ZodType<string | undefined> {
  return z.preprocess(
    (value) => (value === null || value === '' ? undefined : value),
    line(lengthMax).optional(),
  );
}

/** The alphabet of every payment reference, ours and the merchants' (design 9). */
export const referencePattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/** A payment reference. */
export const reference = z
  .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
  .regex(referencePattern, {
    error:
      'must start with a letter or digit and have 1 to 64 letters, digits, dots, underscores, colons or hyphens',
  });
