import {
  type CollectionDetails,
  type CompletePayinRequest,
  type CompletionFlow,
  collectionCountries,
  collectionTermsOf,
  completionFlow,
  countryCode,
  currencyCode,
  type FieldProblem,
  findMobileOperator,
  isPayable,
  type MobileOperator,
  mobileOperators,
  type PayinRequest,
} from '@pesewa/contracts';
import {
  accept,
  amountProblem,
  displayAmount,
  type Money,
  type PositiveAmountRefusal,
  parsePositiveAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';

/** The content of a merchant's collection except its amount, normalised; its country has two letters. */
export interface CollectionContent extends CollectionDetails {
  readonly merchantReference: string;
  readonly currency: string;
  /** Where the outcome is reported; undefined for the merchant's own address. */
  readonly webhookUrl?: string | undefined;
}

/** A well-formed request; its amount is judged after its form (contract 10.2). */
export interface CollectionForm {
  readonly content: CollectionContent;
  /** The amount's own text in the body. */
  readonly amountText: string;
  readonly amount: Result<Money, PositiveAmountRefusal>;
}

/** A collection as a merchant requested it, with the flow by which its customer completes it. */
export interface CollectionRequest extends Omit<CollectionContent, 'currency'> {
  readonly amount: Money;
  readonly flow: CompletionFlow;
}

const countries = collectionCountries.join(', ');

/** Checks the form beyond single fields, by the rules of its country (contract 2.8 and 10.11). */
export function readForm(request: PayinRequest): Result<CollectionForm, FieldProblem> {
  const country = request.transactionCountry.toUpperCase();
  if (countryCode(country) === undefined) {
    return refuse({ path: 'transactionCountry', message: `must be one of ${countries}` });
  }
  const currency = currencyCode(request.transactionCurrency);
  if (currency === undefined)
    return refuse({ path: 'transactionCurrency', message: 'must be an ISO 4217 code' });
  const problem =
    requestTypeProblem(request, country) ??
    transactionTypeProblem(request, country) ??
    webhookProblem(request);
  if (problem) return refuse(problem);
  return accept({
    amountText: request.transactionAmount,
    amount: parsePositiveAmount(request.transactionAmount, currency),
    content: {
      merchantReference: request.transactionReference,
      country,
      currency,
      operatorCode: request.operatorCode,
      transactionType: request.transactionType,
      customerNumber: request.customerNumber,
      customerName: request.customerName,
      customerEmail: request.customerEmail,
      description: request.transactionDescription,
      successUrl: request.successUrl,
      errorUrl: request.errorUrl,
      cancelUrl: request.cancelUrl,
      webhookUrl: request.webhookUrl,
    },
  });
}

function requestTypeProblem({ requestHeader }: PayinRequest, country: string): FieldProblem | undefined {
  const terms = collectionTermsOf(country);
  if (!terms || requestHeader.requestType === terms.requestType) return undefined;
  return { path: 'requestHeader.requestType', message: `must be ${terms.requestType} in ${country}` };
}

function transactionTypeProblem(
  { transactionType }: PayinRequest,
  country: string,
): FieldProblem | undefined {
  const path = 'transactionType';
  if (transactionType === undefined)
    return collectionTermsOf(country)?.needsTransactionType
      ? { path, message: `is required in ${country}` }
      : undefined;
  return transactionType === '1' || transactionType === '2' ? undefined : { path, message: 'must be 1 or 2' };
}

function webhookProblem({ webhookUrl }: PayinRequest): FieldProblem | undefined {
  if (webhookUrl === undefined) return undefined;
  const url = URL.parse(webhookUrl);
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return usable
    ? undefined
    : { path: 'webhookUrl', message: 'must be an http or https address without credentials' };
}

/**
 * Checks the OTP of a completion: it must have the number of digits of the mobile operator's flow, and be absent in a flow
 * that completes without one (contract 4.8, 8). Flows without completion are answered so, with or without an OTP.
 */
export function otpProblem(request: CompletePayinRequest): FieldProblem | undefined {
  const mobileOperator = findMobileOperator(request.operatorCode);
  const flow = mobileOperator && completionFlow(mobileOperator, request.transactionType);
  const { otpCode } = request;
  const problem = (message: string) => ({ path: 'otpCode', message });
  if (flow?.kind === 'stkThenComplete' && otpCode !== undefined)
    return problem(`must be left out: ${request.operatorCode} completes without an OTP`);
  if (flow?.kind !== 'otp' || otpCode?.length === flow.otpLength) return undefined;
  return problem(otpCode === undefined ? 'is required' : `must have ${flow.otpLength} digits`);
}

/**
 * The texts whose Base64 is a correct X-module: with the amount as written, or in its shortest plain decimal form
 * (contract 10.13).
 */
export function securityTexts({ content, amountText }: CollectionForm): readonly string[] {
  const rest = `${content.merchantReference}${content.customerNumber}`;
  return [...new Set([amountText, plainDecimal(amountText)])].map((amount) => `${amount}${rest}`);
}

/**
 * The shortest plain decimal form of a JSON number, as many JSON writers print it: `1e2` is `100`, `100.50` is `100.5`.
 */
function plainDecimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?0*\d{1,3}))?$/.exec(text);
  if (!match) return text;
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  const point = whole.length + Number(power);
  const digits = `${whole}${fraction}`.padEnd(point, '0');
  const left = point > 0 ? digits.slice(0, point).replace(/^0+(?=\d)/, '') : '0';
  const behind = point > 0 ? digits.slice(point) : digits.padStart(digits.length - point, '0');
  let end = behind.length;
  while (behind[end - 1] === '0') end -= 1;
  const right = behind.slice(0, end);
  const plain = right === '' ? left : `${left}.${right}`;
  return plain === '0' ? plain : `${sign}${plain}`;
}

/** The mobile operator that an order names, if it works in the order's country and currency (contract 10.10). */
export function readMobileOperator({ content }: CollectionForm): Result<MobileOperator, OperatorProblem> {
  const { operatorCode, country, currency } = content;
  const mobileOperator = findMobileOperator(operatorCode);
  if (mobileOperator?.country === country)
    return mobileOperator.currency === currency
      ? accept(mobileOperator)
      : refuse(unavailable(`transactionCurrency must be ${mobileOperator.currency} in ${country}`));
  const codes = mobileOperators.filter((one) => one.country === country).map(({ code }) => code);
  return codes.length === 0
    ? refuse(unavailable(`transactionCountry must be one of ${countries}`))
    : refuse(unavailable(`operatorCode must be one of ${codes.join(', ')} in ${country}`));
}

/** Why a mobile operator can't be asked. */
interface OperatorProblem {
  readonly reason: 'OPERATOR NOT AVAILABLE';
  readonly description: string;
}

/** The refusal of a mobile operator. */
export function unavailable(description: string): OperatorProblem {
  return { reason: 'OPERATOR NOT AVAILABLE', description };
}

/** An amount that can't be collected, with the rule that it breaks. */
interface AmountProblem {
  readonly reason: 'INVALID AMOUNT';
  readonly description: string;
}

/** The refusal of an amount for what it must be or do. */
export function invalidAmount(problem: string): AmountProblem {
  return { reason: 'INVALID AMOUNT', description: `transactionAmount ${problem}` };
}

/**
 * An order with a valid amount: above zero, no finer than the currency, and a multiple of the country's step (contract
 * 8).
 */
export function readCollectionRequest(
  { content, amount }: CollectionForm,
  mobileOperator: MobileOperator,
): Result<CollectionRequest, AmountProblem> {
  if (!amount.ok) return refuse(invalidAmount(amountProblem(amount.refusal, content.currency)));
  if (!isPayable(amount.value.minor, mobileOperator)) {
    const step = collectionTermsOf(content.country)?.amountStepMinor ?? 1n;
    return refuse(invalidAmount(`must be a multiple of ${displayAmount(step, content.currency)}`));
  }
  const { currency: _currency, ...rest } = content;
  return accept({
    ...rest,
    amount: amount.value,
    flow: completionFlow(mobileOperator, content.transactionType),
  });
}

/** Whether a completion has the same content as the initiated collection, in any spelling (contract 4.8). */
export function isSameContent({ content, amount }: CollectionForm, order: CollectionRequest): boolean {
  if (!amount.ok) return false;
  const { amount: ordered, flow: _flow, ...rest } = order;
  return canonical(content, amount.value) === canonical({ ...rest, currency: ordered.currency }, ordered);
}

function canonical(content: CollectionContent, amount: Money): string {
  return JSON.stringify([
    [content.merchantReference, content.country, content.currency, amount.minor.toString()],
    [content.operatorCode, content.transactionType ?? ''],
    [
      content.customerNumber,
      content.customerName ?? '',
      content.customerEmail ?? '',
      content.description ?? '',
    ],
    [content.successUrl ?? '', content.errorUrl ?? '', content.cancelUrl ?? '', content.webhookUrl ?? ''],
  ]);
}
