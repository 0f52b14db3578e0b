import { unmaskedWords } from './unmasked-words.ts';

const REASON_LENGTH_MAX = 140;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** Five digits or more, with any separators: such a number may identify an account, a phone or a document. */
const LONG_NUMBER = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){4,}/gu;
const MASK = '***';
/** A byte that was no text (U+FFFD) belongs to its word: what is left of a name must not pass for a word of payments. */
const WORD = /[\p{L}\p{N}\p{M}\ufffd]+/gu;
const LETTER = /\p{L}/u;
const ACCENTS = /\p{M}+/gu;
/** No letter has more: normalising sorts the marks of one in quadratic time. */
const MANY_MARKS = /(\p{M}{8})\p{M}+/gu;
/** A code of a rail, such as Q51. */
const SHORT_CODE = /^[A-Z]{1,2}\d{1,4}$/u;
/** The parts of a name that were masked one by one. */
const MASKS = /\*{3}(?:[ .,'’-]{1,3}\*{3})+/gu;
/** Money that a wallet holds, and words by which there is too little of it, in English and French. */
const MONEY = 'balances?|funds?|soldes?|fonds|provisions?|money';
const TOO_LITTLE =
  'insufficient|not enough|inadequate|low|no|exceed\\w*|depleted|exhausted|insuffisante?s?|manque\\w*|dépass\\w*|depass\\w*|épuisée?s?|epuisee?s?';
const BETWEEN = '[^\\p{L}\\p{N}]+(?:[\\p{L}\\p{N}]+[^\\p{L}\\p{N}]+){0,4}';
/** Words by which a rail speaks of the float that we hold at it, or of our own limit: whatever the payment is. */
const OUR_FLOAT =
  /(?<!\p{L})(?:float|prefund\p{L}*|(?:merchant|partner)\s+(?:\p{L}+\s+){0,3}(?:limit|balance|wallet)|your\s+(?:\p{L}+\s+){0,3}limit)(?!\p{L})/iu;
/** Words by which a rail speaks of too little money in a wallet: of a payout it is always ours. */
const TOO_LITTLE_MONEY = new RegExp(
  `(?<!\\p{L})(?:(?:${TOO_LITTLE})${BETWEEN}(?:${MONEY})|(?:${MONEY})${BETWEEN}(?:${TOO_LITTLE}))(?!\\p{L})`,
  'iu',
);

/** What a merchant reads in place of the rail's words about our wallet. */
export const NOT_PAID = 'not paid by the rail';

/** Base64 of a text's UTF-8 bytes (contract 5). */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/**
 * A foreign reason as one line of bounded length, with the words of payments alone: names, long numbers and e-mail
 * addresses are masked; undefined if it is empty.
 *
 * The reason may name the customer, and reasons are sent to topics and logs. Words about our float are left out.
 */
export function reasonLine(text: string | null | undefined): string | undefined {
  const line = oneLine(text);
  return OUR_FLOAT.test(line) ? NOT_PAID : maskedLine(line);
}

function maskedLine(text: string): string | undefined {
  // Masked before it is cut, because half a number would not be recognised.
  const masked = maskNames(maskAddresses(text.replaceAll(LONG_NUMBER, MASK)));
  const line = masked.trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? undefined : line;
}

/**
 * The reason of a payout as one line; what a rail says of our wallet there is no merchant's business and is left out.
 *
 * A payout takes nothing from its beneficiary, so missing funds are always ours.
 */
export function payoutReason(text: string | null | undefined): string | undefined {
  return TOO_LITTLE_MONEY.test(oneLine(text)) ? NOT_PAID : reasonLine(text);
}

/** Letters, digits and signs have other spellings, such as full-width ones, which NFKC replaces. */
function oneLine(text: string | null | undefined): string {
  return (text ?? '').replaceAll(MANY_MARKS, '$1').normalize('NFKC').replaceAll(CONTROL_CHARACTERS, ' ');
}

/** Word by word, because a pattern for addresses would take quadratic time on a long text. */
function maskAddresses(line: string): string {
  return line
    .split(' ')
    .map((word) => (word.includes('@') ? MASK : word))
    .join(' ');
}

/** Names can't be listed, the words of payments can: whatever is none of them may name a person. */
function maskNames(line: string): string {
  return line.replaceAll(WORD, (word) => (isPlainWord(word) ? word : MASK)).replaceAll(MASKS, MASK);
}

function isPlainWord(word: string): boolean {
  return !LETTER.test(word) || SHORT_CODE.test(word) || unmaskedWords.has(plain(word));
}

function plain(word: string): string {
  return word.normalize('NFD').replaceAll(ACCENTS, '').toLowerCase();
}
