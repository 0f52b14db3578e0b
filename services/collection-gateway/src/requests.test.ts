import { describe, expect, it } from 'vitest';
import { isSecurityModule } from './requests.ts';

const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');
const text = '100order-1?>2203001234';
const right = base64(text);

describe('a security module (contract 5)', () => {
  it('is right as the Base64 of any of the texts', () => {
    expect(right).toMatch(/[+/]/);
    expect(isSecurityModule(right, ['100.00order', text])).toBe(true);
    expect(isSecurityModule(base64(''), [''])).toBe(true);
  });

  it.each<[string, string | undefined]>([
    ['absent', undefined],
    ['empty', ''],
    ['the text itself', text],
    ['of another order', base64('order-1100?>2203001234')],
    ['of the URL-safe alphabet', right.replaceAll('+', '-').replaceAll('/', '_')],
    ['without padding', right.replace(/=+$/, '')],
    ['with more padding', `${right}=`],
    ['with a space inside', `${right.slice(0, 4)} ${right.slice(4)}`],
    ['with something behind it', `${right}x`],
    ['encoded twice', base64(right)],
    ['in lower case', right.toLowerCase()],
    ['sent twice', `${right}, ${right}`],
    ['of 8 kB', 'A'.repeat(8_192)],
  ])('is wrong %s', (_, value) => {
    expect(isSecurityModule(value, [text])).toBe(false);
  });

  it('is the Base64 of UTF-8, not of Latin-1', () => {
    expect(isSecurityModule(base64('é'), ['é'])).toBe(true);
    expect(isSecurityModule(base64('é', 'latin1'), ['é'])).toBe(false);
  });

  it('is right for nothing where there is no text', () => {
    expect(isSecurityModule('', [])).toBe(false);
  });
});
