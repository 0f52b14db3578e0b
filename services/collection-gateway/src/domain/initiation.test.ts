import { completePayinRequest, parseJson, payinRequest } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { ivoryCoast, payinBody } from '../fixtures/gateway.ts';
import {
  isSameContent,
  otpProblem,
  readCollectionRequest,
  readForm,
  readMobileOperator,
  securityTexts,
} from './initiation.ts';

function formOf(changes: Readonly<Record<string, unknown>>, amountText = '100') {
  const text = JSON.stringify(payinBody({ ...changes, transactionAmount: 0 }));
  const amended = text.replace('"transactionAmount":0', `"transactionAmount":${amountText}`);
  const form = readForm(payinRequest.parse(parseJson(amended)));
  if (!form.ok) throw new Error(form.refusal.path);
  return form.value;
}

function ordered(changes: Readonly<Record<string, unknown>>, amountText = '100') {
  const form = formOf(changes, amountText);
  const mobileOperator = readMobileOperator(form);
  return mobileOperator.ok ? readCollectionRequest(form, mobileOperator.value) : mobileOperator;
}

describe('security module', () => {
  it.each([
    ['100.50', ['100.50', '100.5']],
    ['1e2', ['1e2', '100']],
    ['1.5E1', ['1.5E1', '15']],
    ['25e-1', ['25e-1', '2.5']],
    ['5e-3', ['5e-3', '0.005']],
    ['100', ['100']],
    ['1e+002', ['1e+002', '100']],
    [`100.5${'0'.repeat(60)}`, [`100.5${'0'.repeat(60)}`, '100.5']],
    ['0.0', ['0.0', '0']],
    ['-2.50', ['-2.50', '-2.5']],
  ])('takes the amount %s as %o', (text, amounts) => {
    expect(securityTexts(formOf({}, text))).toEqual(amounts.map((amount) => `${amount}order-12203001234`));
  });
});

describe('amount', () => {
  const refused = (problem: string) => ({
    ok: false,
    refusal: { reason: 'INVALID AMOUNT', description: `transactionAmount must ${problem}` },
  });

  it.each([
    ['0', 'be greater than zero'],
    ['-5', 'be greater than zero'],
    ['0.001', 'have at most 2 decimals in GMD'],
    ['1e30', 'be at most 90,071,992,547,409.91 GMD'],
    ['9'.repeat(41), 'be at most 90,071,992,547,409.91 GMD'],
  ])('%s must %s', (text, problem) => {
    expect(ordered({}, text)).toEqual(refused(problem));
  });

  it.each(['5', '1e2', '105.0'])("%s can be collected in Cote d'Ivoire", (text) => {
    expect(ordered(ivoryCoast, text).ok).toBe(true);
  });

  it.each([
    ['1', 'be a multiple of 5 XOF'],
    ['104', 'be a multiple of 5 XOF'],
    ['5.5', 'have no decimals in XOF'],
  ])("%s in Cote d'Ivoire must %s", (text, problem) => {
    expect(ordered(ivoryCoast, text)).toEqual(refused(problem));
  });
});

describe('content of a completion', () => {
  const order = ordered({ customerEmail: '' }, '100.0');

  it.each([
    ['another spelling of the amount', {}, '1e2', true],
    ['null for empty', { customerEmail: null }, '100', true],
    ['another case of the codes', { transactionCountry: 'gm', transactionCurrency: 'gmd' }, '100', true],
    ['another amount', {}, '101', false],
    ['another customer', { customerNumber: '2203001235' }, '100', false],
    ['another spelling of the customer', { customerNumber: '+2203001234' }, '100', false],
    ['another reference', { transactionReference: 'order-2' }, '100', false],
    ['another name', { customerName: 'Awa Jallow-Ceesay' }, '100', false],
    ['another e-mail address', { customerEmail: 'awa@example.com' }, '100', false],
    ['another description', { transactionDescription: 'Shoes' }, '100', false],
    ['another currency', { transactionCurrency: 'GHS' }, '100', false],
    ['another mobile operator', { operatorCode: 'GMAFR' }, '100', false],
    ['a transaction type', { transactionType: '1' }, '100', false],
    ['a success address', { successUrl: 'https://merchant.example/a' }, '100', false],
    ['an error address', { errorUrl: 'https://merchant.example/a' }, '100', false],
    ['a cancel address', { cancelUrl: 'https://merchant.example/a' }, '100', false],
    ['no webhook address', { webhookUrl: '' }, '100', false],
    ['another client id', { requestHeader: { clientId: 'x', requestType: 'B' } }, '100', true],
    ['another webhook address', { webhookUrl: 'https://merchant.example/other' }, '100', false],
  ])('with %s', (_name, changes, amountText, same) => {
    expect(order.ok && isSameContent(formOf(changes, amountText), order.value)).toBe(same);
  });
});

describe('the OTP of a completion', () => {
  const ofGhana = {
    requestHeader: { clientId: '', requestType: 'Collections' },
    transactionCountry: 'GH',
    transactionCurrency: 'GHS',
    operatorCode: 'GHMTN',
  };

  it.each([
    ['GMQMO', { operatorCode: 'GMQMO', otpCode: '123456' }, undefined],
    ['GMQMO, short', { operatorCode: 'GMQMO', otpCode: '12345' }, 'must have 6 digits'],
    ['GMQMO, none', { operatorCode: 'GMQMO' }, 'is required'],
    ['CIORA', { ...ivoryCoast, operatorCode: 'CIORA', otpCode: '0123' }, undefined],
    ['CIORA, long', { ...ivoryCoast, operatorCode: 'CIORA', otpCode: '012345' }, 'must have 4 digits'],
    ['GHMTN low risk', { ...ofGhana, transactionType: '2', otpCode: '012345' }, undefined],
    ['GHMTN high risk', { ...ofGhana, transactionType: '1', otpCode: '012345' }, undefined],
    ['GMAFR', { operatorCode: 'GMAFR' }, undefined],
    [
      'GMAFR, one too many',
      { operatorCode: 'GMAFR', otpCode: '123456' },
      'must be left out: GMAFR completes without an OTP',
    ],
    ['a link', { operatorCode: 'GMWAV', otpCode: '123456' }, undefined],
  ])('of %s', (_name, changes, message) => {
    const request = completePayinRequest.parse(parseJson(JSON.stringify(payinBody(changes))));
    expect(otpProblem(request)).toEqual(message === undefined ? undefined : { path: 'otpCode', message });
  });
});
