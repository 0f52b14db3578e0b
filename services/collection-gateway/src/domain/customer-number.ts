interface Numbering {
  readonly callingCode: string;
  /** How many digits a national number has, leading zeros aside. */
  readonly digits: number;
}

const numberings: ReadonlyMap<string, Numbering> = new Map([
  ['GM', { callingCode: '220', digits: 7 }],
  ['GH', { callingCode: '233', digits: 9 }],
  ['CI', { callingCode: '225', digits: 9 }],
  ['KE', { callingCode: '254', digits: 9 }],
]);

/** Whether a text can be a phone number: six to fifteen digits (E.164), perhaps after a plus sign and with separators. */
export function isPhoneNumber(text: string): boolean {
  if (!/^\+?[0-9][0-9 ().-]*$/.test(text)) return false;
  const { length } = digitsOf(text);
  return length >= 6 && length <= 15;
}

/**
 * One text for all spellings of a customer's number in a country of two letters: `+233 24 123 4567`, `00233241234567`,
 * `0241234567` and `233241234567` are one.
 *
 * It is for counting, never for calling: what travels is the merchant's own spelling.
 */
export function canonicalNumber(text: string, country: string): string {
  // Zeros in front are of the exit code or the trunk; what is left tells nobody from anybody else.
  const significant = withoutZeros(digitsOf(text));
  const numbering = numberings.get(country);
  if (!numbering || !significant.startsWith(numbering.callingCode)) return `${country}${significant}`;
  // A national number may begin as the calling code does; it is too short to hold both.
  const rest = withoutZeros(significant.slice(numbering.callingCode.length));
  return `${country}${rest.length >= numbering.digits ? rest : significant}`;
}

function withoutZeros(digits: string): string {
  return digits.replace(/^0+/, '');
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}
