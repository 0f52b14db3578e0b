import { type EntryView, growsByDebits } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';

/** Codes whose word is not simply their parts. */
const words: Readonly<Record<string, string>> = {
  not_in_books: 'not in our books',
  not_on_statement: "not on the rail's statement",
  not_at_rail: 'not at the rail',
  railCost: 'rail fee',
  refundFee: 'fee refund',
  awaitingOtp: 'awaiting OTP',
};

/** What may be a code, unlike a text with numbers or punctuation. */
const CODE = /^[A-Za-z_ -]+(?:\.[a-z_]+)?$/;

/**
 * A code in the words of the glossary: `collection.amount_differs` is `collection: amount differs`. Any other text stays as
 * it is. JSON keeps codes.
 */
export function inWords(code: string): string {
  const known = words[code];
  if (known !== undefined || !CODE.test(code)) return known ?? code;
  const [subject, what] = code.split('.', 2);
  if (what !== undefined) return `${subject}: ${inWords(what)}`;
  return code
    .replaceAll(/[_-]/g, ' ')
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** An entry in the direction in which the money moved, such as `5.00 GHS from … to …`. */
export function describeMovement(entry: Pick<EntryView, 'debit' | 'credit' | 'amount' | 'currency'>): string {
  const { amount, currency } = entry;
  const sum = displayAmount(amount, currency);
  const [debit, credit] = [describeAccount(entry.debit), describeAccount(entry.credit)];
  if (growsByDebits(entry.debit)) {
    return growsByDebits(entry.credit)
      ? `${sum} from ${credit} to ${debit}`
      : `${sum} received on ${debit}, credited to ${credit}`;
  }
  return growsByDebits(entry.credit)
    ? `${sum} paid from ${credit}, charged to ${debit}`
    : `${sum} from ${debit} to ${credit}`;
}

/** The account of a statement that an entry's account is a part of: both parts of a wallet are one. */
export function statedAccount(account: string): string {
  return account.startsWith('wallet:') ? account.split(':').slice(0, 3).join(':') : account;
}

/** An account of the ledger, such as `GHS wallet of demo, available`. */
export function describeAccount(account: string): string {
  const [kind = '', owner = '', currency, part] = account.split(':');
  if (currency === undefined) return `${owner} ${inWords(kind)}`;
  if (kind === 'wallets') return `${currency} wallets of all merchants, ${owner}`;
  return `${currency} ${kind} ${kind === 'float' ? 'at' : 'of'} ${owner}${part === undefined ? '' : `, ${part}`}`;
}
