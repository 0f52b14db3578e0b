import type { TestDigits } from '@pesewa/contracts';

/** A callback's statement: the true end, the opposite end, or the true end with another amount. */
export type ScriptedCallback = 'truth' | 'opposite' | 'otherAmount';

/** How a submission is answered, after the payment was accepted. */
export type AnswerBehaviour = 'normal' | 'serverError' | 'reset' | 'never' | 'malformed' | 'afterCallback';

/** How the simulator treats one payment, as data: a new behaviour is a new row of {@link scripts}. */
export interface Script {
  /** Attempts that are refused without effect before one is accepted. */
  readonly refusedAttempts: { readonly times: number; readonly how: 'reset' | 'tooManyRequests' };
  readonly outcome: 'COMPLETED' | 'FAILED' | 'never';
  /** How long it is pending before the outcome. */
  readonly pendingMs: number;
  readonly answer: AnswerBehaviour;
  /** The callbacks after its end, in order. */
  readonly callbacks: readonly ScriptedCallback[];
  /** How long after its acceptance lookups deny the payment. */
  readonly deniedMs: number;
  /** How long after its end a completed payout is reversed. */
  readonly reversedAfterMs: number | undefined;
}

/** The script of every payment whose last four digits are not magic: it succeeds, with one callback. */
const ordinaryScript: Script = {
  refusedAttempts: { times: 0, how: 'reset' },
  outcome: 'COMPLETED',
  pendingMs: 0,
  answer: 'normal',
  callbacks: ['truth'],
  deniedMs: 0,
  reversedAfterMs: undefined,
};

const but = (difference: Partial<Script>): Script => ({ ...ordinaryScript, ...difference });

/** The magic numbers: the last four digits of an account or customer number (contract 10.18). */
const scripts: Readonly<Record<TestDigits, Script>> = {
  '0001': but({ outcome: 'FAILED' }),
  '0002': but({ callbacks: [] }),
  '0003': but({ outcome: 'FAILED', callbacks: [] }),
  '0004': but({ answer: 'serverError' }),
  '0005': but({ answer: 'reset' }),
  '0006': but({ refusedAttempts: { times: 1, how: 'reset' } }),
  '0007': but({ answer: 'never' }),
  '0008': but({ pendingMs: 10_000, callbacks: [] }),
  '0009': but({ callbacks: ['truth', 'truth', 'truth'] }),
  '0010': but({ answer: 'afterCallback' }),
  '0011': but({ callbacks: ['truth', 'opposite'] }),
  '0012': but({ callbacks: ['otherAmount'] }),
  '0013': but({ deniedMs: 5_000 }),
  '0014': but({ reversedAfterMs: 2_000 }),
  '0015': but({ refusedAttempts: { times: 2, how: 'tooManyRequests' } }),
  '0016': but({ answer: 'malformed' }),
  '0017': but({ outcome: 'never', callbacks: [] }),
};

/** The script of four digits; the ordinary one if they are not magic. */
export function scriptOf(digits: string): Script {
  const magic: Readonly<Record<string, Script>> = scripts;
  return magic[digits] ?? ordinaryScript;
}

/** The last four digits of an account or customer number, ignoring other characters. */
export function lastFourDigits(number: string): string {
  return number.replace(/\D/g, '').slice(-4);
}
