/** A number as JSON has it (RFC 8259, 6); an amount goes into `X-module` as the body writes it. */
export const jsonNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What `X-module` encodes (contract 5): the reference alone for a status check, all three for payin and complete-payin. */
export function moduleText(signed: {
  readonly amount?: string | undefined;
  readonly reference: string;
  readonly number?: string | undefined;
}): string {
  return `${signed.amount ?? ''}${signed.reference}${signed.number ?? ''}`;
}

/** A text as the headers of contract 5 carry it: the Base64 of its UTF-8. */
export function encodeHeader(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** The header of a payout request. */
export function payoutHeaders(publicKey: string): Record<string, string> {
  return { 'x-api-key': encodeHeader(publicKey) };
}

/** The headers of a collection request, with the text of {@link moduleText}. */
export function collectionHeaders(publicKey: string, module: string): Record<string, string> {
  return { 'x-business': encodeHeader(publicKey), 'x-app': 'api', 'x-module': encodeHeader(module) };
}
