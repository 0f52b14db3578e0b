import { completePayinRequest, payinRequest } from '@pesewa/contracts';
import { COMPLETION_PATH, viewCompleting, viewInitiated } from './answers.ts';
import { defineOperation } from './api-operation.ts';
import { documentAnswers } from './collection-answers.ts';

const reference = 'co-019a6b2c4d5e7f8091a2b3c4d5e6f708';

/** A payin of the examples; the number begins with the country's code. */
const payin = (operatorCode: string, place: Readonly<Record<string, unknown>>) => ({
  requestHeader: { clientId: '', requestType: 'Collections' },
  customerName: 'Ama Mensah',
  customerEmail: '',
  transactionReference: 'order-2031',
  transactionDescription: 'Order 2031',
  transactionAmount: 100.5,
  successUrl: '',
  errorUrl: '',
  cancelUrl: '',
  operatorCode,
  webhookUrl: 'https://merchant.example.com/hooks/collections',
  ...place,
});

const gambia = {
  requestHeader: { clientId: '', requestType: 'B' },
  customerNumber: '2207001234',
  transactionCurrency: 'GMD',
  transactionCountry: 'GM',
};
const ghana = { customerNumber: '233241234567', transactionCurrency: 'GHS', transactionCountry: 'GH' };
const ivoryCoast = {
  customerNumber: '2250701234567',
  transactionAmount: 500,
  transactionCurrency: 'XOF',
  transactionCountry: 'CI',
};
const kenya = { customerNumber: '254712345678', transactionCurrency: 'KES', transactionCountry: 'KE' };

const otp = payin('GMQMO', gambia);
const module = {
  of: '`transactionAmount`, `transactionReference` and `customerNumber`, joined in this order with nothing between',
  example: '100.5order-20312207001234',
};

/** The operations that collect (contract 4.7, 4.8). */
export const collectionOperations = {
  payin: defineOperation({
    path: '/collection/v1/payin',
    operationId: 'initiateCollection',
    tag: 'Collections',
    summary: 'Initiate a collection',
    description:
      "Asks a customer's mobile operator for an amount. A reference is accepted once, for ever; a refused request " +
      'leaves nothing behind, has an empty `transactionReference` and may be corrected under the same reference; one with a ' +
      '`transactionReference` is the mobile operator’s, of a collection that is recorded and has failed. `09` means that the collection is recorded: ' +
      'its outcome comes by webhook. Mobile operator, country and currency must fit. `requestHeader.requestType` is `B` in the ' +
      'Gambia and `Collections` elsewhere; `transactionType` is required in Ghana and Kenya; amounts in Cote d’Ivoire ' +
      'are multiples of five. `webhookUrl` must be https on port 443 of the public internet and falls back to your own address.',
    request: {
      module,
      schema: payinRequest,
      examples: {
        'OTP (GMQMO)': otp,
        'payment link (GMWAV)': payin('GMWAV', gambia),
        'STK push, then completion (GMAFR)': payin('GMAFR', gambia),
        'STK push (GHMTN, high risk)': payin('GHMTN', { ...ghana, transactionType: '1' }),
        'OTP (GHMTN, low risk)': payin('GHMTN', { ...ghana, transactionType: '2' }),
        'OTP of four digits (CIORA)': payin('CIORA', ivoryCoast),
        'STK push (KESAF)': payin('KESAF', { ...kenya, transactionType: '1' }),
      },
    },
    answers: documentAnswers(
      {
        description: 'the collection is recorded, and the fields say what is next',
        examples: {
          'by OTP': viewInitiated(reference, { kind: 'otp', otpLength: 6 }, ''),
          'by STK push, then completion': viewInitiated(reference, { kind: 'stkThenComplete' }, ''),
          'by payment link': viewInitiated(reference, { kind: 'link' }, 'https://pay.example.com/p/8f3a'),
          'by STK push': viewInitiated(reference, { kind: 'stk' }, ''),
        },
      },
      [
        'DUPLICATE REFERENCE',
        'INCORRECT SECURITY MODULE',
        'OPERATOR NOT AVAILABLE',
        'INVALID AMOUNT',
        'MERCHANT LIMIT EXCEEDED',
        'INVALID REQUEST',
        'UNAUTHORIZED',
        'TOO MANY REQUESTS',
        'INTERNAL ERROR',
        'SERVICE UNAVAILABLE',
      ],
    ),
  }),
  completePayin: defineOperation({
    path: COMPLETION_PATH,
    operationId: 'completeCollection',
    tag: 'Collections',
    summary: 'Complete a collection',
    description:
      "The payin's body again, with the customer's `otpCode` where the flow asks for one: GMQMO, Ghana with " +
      '`transactionType` 2 (six digits) and CIORA (four). GMAFR is completed without. At most three codes are passed on, ' +
      'within five minutes. `09` means that it goes on: the outcome comes by webhook.',
    request: {
      module,
      schema: completePayinRequest,
      examples: {
        'with OTP (GMQMO)': { ...otp, otpCode: '123456' },
        'without OTP (GMAFR)': payin('GMAFR', gambia),
      },
    },
    answers: documentAnswers(
      { description: 'the completion goes on', examples: { 'goes on': viewCompleting(reference) } },
      [
        'INCORRECT SECURITY MODULE',
        'UNKNOWN REFERENCE',
        'REQUEST MISMATCH',
        'COMPLETION NOT REQUIRED',
        'COLLECTION CLOSED',
        'INCORRECT OTP',
        'OTP EXPIRED',
        'OTP ATTEMPTS EXCEEDED',
        'INVALID REQUEST',
        'UNAUTHORIZED',
        'TOO MANY REQUESTS',
        'INTERNAL ERROR',
        'SERVICE UNAVAILABLE',
      ],
    ),
  }),
};
