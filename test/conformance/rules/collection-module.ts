import { describe, expect, it } from 'vitest';
import { collections, expectNothing, expectPending } from '../collections.ts';
import { encodeKey, matching, number } from '../conformance.ts';
import { base64, customerIn, next, payinBody, revised, statusBody, withOtp } from './collection-requests.ts';

const wrong = 'INCORRECT SECURITY MODULE';

describe.concurrent('contract 5: X-module is the Base64 of amount, reference and number', () => {
  it.each([
    ['100', '100'],
    ['100.0', '100.0'],
    ['100.0', '100'],
    ['100.00', '100.00'],
    ['100.00', '100'],
    ['1e2', '1e2'],
    ['1e2', '100'],
    ['1E+2', '1E+2'],
    ['1E+2', '100'],
    ['1000e-1', '100'],
    ['100.50', '100.50'],
    ['100.50', '100.5'],
    ['1.005e2', '100.5'],
    ['0.50', '0.5'],
    ['5e-1', '0.5'],
    ['90071992547409.91', '90071992547409.91'],
    ['90071992547409.910', '90071992547409.91'],
    ['9007199254740991e-2', '90071992547409.91'],
  ])('contract 10.13: an amount of %s in the body may be written as %s', async (amount, written) => {
    const reference = next('module');
    const customerNumber = customerIn('GM');
    const body = payinBody(reference, { customerNumber, transactionAmount: number(amount) });
    const module = base64(`${written}${reference}${customerNumber}`);
    expectPending(await collections.payin(body, { module }));
  });

  it.each([
    ['100', '100.00'],
    ['100', '100.0'],
    ['100', '1e2'],
    ['100', '0100'],
    ['100', '+100'],
    ['100', ' 100'],
    ['100', '10000'],
    ['100', '101'],
    ['100', ''],
    ['1e2', '1E2'],
    ['1e2', '100.0'],
    ['100.50', '100.500'],
    ['100.50', '100,5'],
    ['100.50', '100'],
    ['100.5', '100.50'],
    ['90071992547409.91', '90071992547409.9'],
    ['90071992547409.91', '90071992547409.92'],
  ])('an amount of %s is not %s', async (amount, written) => {
    const reference = next('module');
    const customerNumber = customerIn('GM');
    const body = payinBody(reference, { customerNumber, transactionAmount: number(amount) });
    const module = base64(`${written}${reference}${customerNumber}`);
    await expectNothing(reference, await collections.payin(body, { module }), wrong);
  });

  it.each([
    ['as a text', '"100"'],
    ['with a leading zero', '0100'],
    ['with a plus sign', '+100'],
    ['with a bare point', '100.'],
    ['in hexadecimal', '0x64'],
  ])('contract 10.13: an amount %s is no number, whatever the module says', async (_what, literal) => {
    const reference = next('module');
    const customerNumber = customerIn('GM');
    const body = payinBody(reference, { customerNumber }).replace(
      '"transactionAmount":100',
      `"transactionAmount":${literal}`,
    );
    const module = base64(`100${reference}${customerNumber}`);
    await expectNothing(reference, await collections.payin(body, { module }), 'INVALID REQUEST');
  });

  it('a number with a plus sign is written with it', async () => {
    const reference = next('plus');
    const customerNumber = `+${customerIn('GM')}`;
    const body = payinBody(reference, { customerNumber });
    const without = base64(`100${reference}${customerNumber.slice(1)}`);
    await expectNothing(reference, await collections.payin(body, { module: without }), wrong);
    expectPending(await collections.payin(body));
  });
});

describe('contract 7: a wrong X-module is 06 INCORRECT SECURITY MODULE with 200', () => {
  it('nothing but the right bytes counts, and the same reference may be used afterwards', async () => {
    // The module's length needs padding, so that missing padding has an effect.
    const customerNumber = customerIn('GM');
    const text = padded(next('wrong'), customerNumber);
    const body = payinBody(text.reference, { customerNumber });
    const right = base64(text.written);
    const forms: readonly (string | null)[] = [
      null,
      '',
      '   ',
      '====',
      text.written,
      base64(right),
      right.replace(/=+$/, ''),
      Buffer.from(text.written).toString('base64url'),
      `${right}=`,
      `${right}AAAA`,
      `${right.slice(0, 8)} ${right.slice(8)}`,
      right.toLowerCase(),
      `"${right}"`,
      `Bearer ${right}`,
      base64(`${text.reference}100${customerNumber}`),
      base64(`100${customerNumber}${text.reference}`),
      base64(`${customerNumber}${text.reference}100`),
      base64(`100 ${text.reference} ${customerNumber}`),
      base64(`${text.written}\n`),
      base64(`100${text.reference}`),
      base64(`100${customerNumber}`),
      base64(text.reference),
      base64(`100${text.reference.toUpperCase()}${customerNumber}`),
      encodeKey(collections.demoKey),
      Buffer.from(text.written, 'utf16le').toString('base64'),
      'A'.repeat(8_000),
    ];
    for (const module of forms)
      await expectNothing(text.reference, await collections.payin(body, { module }), wrong);
    const twice = { module: right, headers: ['x-module', right] };
    await expectNothing(text.reference, await collections.payin(body, twice), wrong);
    expectPending(await collections.payin(body, { module: right }));
  });

  it('every wrong one gets the same bytes', async () => {
    const body = payinBody(next('same'));
    const answers = await Promise.all(
      [null, '', 'AAAA', base64('x')].map((module) => collections.payin(body, { module })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });

  it('one value may fit two requests, and each is taken for what it says', async () => {
    const customerNumber = customerIn('GM');
    const tail = next('split');
    const bodies = [
      payinBody(`0x${tail}`, { customerNumber, transactionAmount: number('1') }),
      payinBody(`x${tail}`, { customerNumber, transactionAmount: number('10') }),
    ];
    const module = base64(`10x${tail}${customerNumber}`);
    const ours = [];
    for (const body of bodies) ours.push(expectPending(await collections.payin(body, { module })));
    expect(new Set(ours).size).toBe(2);
    const amounts = await Promise.all(
      ours.map(
        async (reference) => (await collections.scenario.stack.simulator.journal(reference))[0]?.amount,
      ),
    );
    expect(amounts).toEqual(['1', '10']);
    // Split differently, the same text names an unknown collection.
    const shifted = revised(bodies[0] ?? '', {
      transactionReference: `0x${tail}${customerNumber.slice(0, 3)}`,
      customerNumber: customerNumber.slice(3),
    });
    const answer = await collections.complete(withOtp(shifted), { module });
    expect(answer).toMatchObject({ reason: 'UNKNOWN REFERENCE', reference: '' });
  });
});

describe('contract 5: each operation has its own X-module', () => {
  it('complete-payin takes payin’s, in either spelling of the amount, and no other', async () => {
    const reference = next('complete');
    const customerNumber = customerIn('GM');
    const changes = { customerNumber, transactionAmount: number('100.50') };
    const body = withOtp(payinBody(reference, changes), '654321');
    expectPending(await collections.payin(payinBody(reference, changes)));
    for (const module of [null, base64(reference), base64('x')])
      expect(await collections.complete(body, { module })).toMatchObject({ status: 200, reason: wrong });
    for (const written of ['100.50', '100.5']) {
      const module = base64(`${written}${reference}${customerNumber}`);
      expect(await collections.complete(body, { module })).toMatchObject({ reason: 'INCORRECT OTP' });
    }
    const respelled = revised(body, { transactionAmount: number('1.005e2'), otpCode: '123456' });
    expectPending(await collections.complete(respelled));
  });

  it('check-status takes the reference’s alone: anything else is 400 in four fields', async () => {
    const reference = next('status');
    const customerNumber = customerIn('GM');
    expectPending(await collections.payin(payinBody(reference, { customerNumber })));
    const right = base64(reference);
    const forms = [
      null,
      '',
      '  ',
      reference,
      `${right}AAAA`,
      `"${right}"`,
      ...[right, `${reference}\n`, `100${reference}`, `100${reference}${customerNumber}`].map(base64),
    ];
    for (const module of forms)
      expect(await collections.check(reference, { module })).toMatchObject({ status: 400, code: undefined });
    const twice = { headers: ['x-module', right] };
    expect(await collections.check(reference, twice)).toMatchObject({ status: 400, code: undefined });
    const other = { body: statusBody('another-one') };
    expect(await collections.check(other, { module: right })).toMatchObject({
      status: 400,
      text: matching(/^\{"timestamp":"[^"]+","status":400,"error":"Bad Request","path":"[^"]+"\}$/),
    });
    expect(await collections.check(reference)).toMatchObject({ status: 200, code: '09' });
  });
});

/** A reference whose module's length is not a multiple of three bytes, and the module's text. */
function padded(requested: string, customerNumber: string) {
  const { length } = `100${requested}${customerNumber}`;
  const reference = length % 3 === 0 ? `${requested}x` : requested;
  return { reference, written: `100${reference}${customerNumber}` };
}
