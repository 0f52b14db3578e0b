import { z } from 'zod';

/** C0 and C1, line and paragraph separators, characters that reverse the direction of text, and byte order marks. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/;

/** Characters that are not seen, but may hide, break or reverse the text around them: texts of rails and merchants have them. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text with something else in place of each character that is not seen. */
export function replaceInvisible(text: string, by: string): string {
  return text.replaceAll(UNSEEN, by);
}

/** A character that is seen; those by their numbers are blank, though Unicode has them among letters and symbols. */
const SEEN = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{1d159}]/u;

const isBlank = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value.trim() === '');

/** Text on one line, perhaps empty. */
function text(lengthMax: number): z.ZodString {
  return z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
    .trim()
    .max(lengthMax, { error: `must have at most ${lengthMax} characters` })
    .refine((value) => !CONTROL_CHARACTERS.test(value), { error: 'must have no control characters' })
    .refine((value) => value.isWellFormed(), { error: 'must have no half characters' });
}

/** A required line of text without control characters. */
export function line(lengthMax: number): z.ZodType<string, string> {
  return text(lengthMax).min(1, { error: 'is required' });
}

/** A required line of which something is seen: what people say to other people. */
export function seenLine(lengthMax: number): z.ZodType<string, string> {
  return text(lengthMax).refine((value) => SEEN.test(value), { error: 'is required' });
}

/** A field that may be left out: absent, null, empty and only spaces are the same (contract 10.3). */
export function optional<Value>(field: z.ZodType<Value>): z.ZodType<Value | undefined> {
  return z.preprocess((value) => (isBlank(value) ? undefined : value), field.optional());
}

/** A line that may be left out. */
export function optionalLine(lengthMax: number): z.ZodType<string | undefined> {
  return optional(line(lengthMax));
}

/** A line that must be present but may be empty, which is read as absent (contract 2.3, a batch's phone number). */
export function nonEmptyLine(lengthMax: number): z.ZodType<string | undefined> {
  return z.preprocess(
    (value) => (isBlank(value) ? '' : value),
    text(lengthMax).transform((value) => (value === '' ? undefined : value)),
  );
}

/** An e-mail address, as far as can be checked without writing to it: one line, one @, something on both sides. */
export const emailLine = line(254).refine((text) => /^[^\s@]+@[^\s@]+$/u.test(text), {
  error: 'must be an e-mail address',
});

/**
 * A bank account or mobile number: any account number, IBAN or phone number of the world, which are written with
 * spaces, dots, slashes and hyphens.
 */
export const accountNumberLine = line(40).refine((text) => /^\+?[A-Za-z0-9][A-Za-z0-9 ./-]*$/.test(text), {
  error: 'must have only letters, digits, spaces, dots, slashes and hyphens, after at most one plus sign',
});

/** The form of every payment reference, ours and the merchants' (contract 10.3). */
export const referencePattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/** A payment reference. */
export const reference = z
  .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a string') })
  .regex(referencePattern, {
    error:
      'must start with a letter or digit and have 1 to 64 letters, digits, dots, underscores, colons or hyphens',
  });

/**
 * Whether a text may be the id of an operator's order or decision; ids in the form of payment references are reserved
 * for payments.
 */
export function isCommandId(text: string): boolean {
  return referencePattern.test(text) && !/^(?:po|co)-/.test(text);
}

/** The id of an operator's order or decision; a repetition under the same id counts as the same one. */
export const commandId = reference.refine(isCommandId, {
  error: 'must not begin like the reference of a payment, po- or co-',
});
