import { parseJson, payinRequest } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { ivoryCoast, payinBody } from '../fixtures/gateway.ts';
import { isSameContent, readForm, readOperator, readOrder, securityTexts } from './initiation.ts';

function formOf(changes: Readonly<Record<string, unknown>>, amountText = '100') {
  const text = JSON.stringify(payinBody({ ...changes, transactionAmount: 0 }));
  const amended = text.replace('"transactionAmount":0', `"transactionAmount":${amountText}`);
  const form = readForm(payinRequest.parse(parseJson(amended)));
  if (!form.ok) throw new Error(form.refusal.path);
  return form.value;
}

function ordered(changes: Readonly<Record<string, unknown>>, amountText = '100') {
  const form = formOf(changes, amountText);
  const operator = readOperator(form);
  return operator.ok ? readOrder(form, operator.value) : operator;
}

describe('security module', () => {
  it.each([
    ['100.50', ['100.50', '100.5']],
    ['1e2', ['1e2', '100']],
    ['1.5E1', ['1.5E1', '15']],
    ['25e-1', ['25e-1', '2.5']],
    ['5e-3', ['5e-3', '0.005']],
    ['100', ['100']],
    ['0.0', ['0.0', '0']],
    ['-2.50', ['-2.50', '-2.5']],
  ])('takes the amount %s as %o', (text, amounts) => {
    expect(securityTexts(formOf({}, text))).toEqual(amounts.map((amount) => `${amount}order-12203001234`));
  });
});

describe('amount', () => {
  it.each(['0', '-5', '0.001', '1e30'])('%s is refused', (text) => {
    expect(ordered({}, text)).toEqual({ ok: false, refusal: 'INVALID AMOUNT' });
  });

  it.each(['5', '1e2', '105.0'])("%s can be collected in Cote d'Ivoire", (text) => {
    expect(ordered(ivoryCoast, text).ok).toBe(true);
  });

  it.each(['1', '104', '5.5'])("%s can't be collected in Cote d'Ivoire", (text) => {
    expect(ordered(ivoryCoast, text)).toEqual({ ok: false, refusal: 'INVALID AMOUNT' });
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
    ['another webhook address', { webhookUrl: 'https://merchant.example/other' }, '100', false],
  ])('with %s', (_name, changes, amountText, same) => {
    expect(order.ok && isSameContent(formOf(changes, amountText), order.value)).toBe(same);
  });
});
