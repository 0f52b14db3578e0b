import { randomBytes, randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestKafka } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { becomes, collections, expectPending } from '../collections.ts';
import { encodeKey } from '../conformance.ts';
import { base64, next, payinBody, withOtp } from './collection-requests.ts';

const mark = randomBytes(4).toString('hex');
const anyDigits = (length: number): string => String(randomInt(10 ** (length - 1), 10 ** length));
/** Random digits that occur nowhere else: wherever they are found, our services have copied them. */
const heart = anyDigits(6);
const customerNumber = (digits: string): string => `220${heart}${digits}`;
const wrongOtp = anyDigits(6);
const personal = { customerName: `Canary ${mark}`, customerEmail: `canary-${mark}@example.com` };
const description = `An order of ${mark}`;

const answers: string[] = [];
/** The values of `X-module`, which contain the customer's number. */
const modules: string[] = [];
const references = new Map<string, string>();
let key = '';

/** Makes one collection with the canary's data, with refused requests on the way. */
async function collectCanary(digits: string, operatorCode: string): Promise<void> {
  const reference = next('canary');
  const changes = {
    ...personal,
    customerNumber: customerNumber(digits),
    transactionDescription: description,
  };
  const body = payinBody(reference, changes, operatorCode);
  const module = base64(`100${reference}${customerNumber(digits)}`);
  modules.push(module);
  const strange = { ...changes, customerNumber: [customerNumber(digits)] };
  answers.push(
    (await collections.payin(body, { key, module: `${module}x` })).text,
    (await collections.payin(body, { key: `${key}x` })).text,
    (await collections.payin(payinBody(reference, strange, operatorCode), { key })).text,
    (await collections.payin(body.slice(0, -1), { key, module })).text,
  );
  const accepted = await collections.payin(body, { key });
  references.set(digits, expectPending(accepted));
  answers.push(accepted.text, (await collections.payin(body, { key })).text);
  for (const otp of [wrongOtp.slice(0, 5), wrongOtp, '123456'])
    answers.push((await collections.complete(withOtp(body, otp), { key })).text);
  answers.push((await collections.check(reference, { key })).text);
  if (digits !== '0017' && digits !== '0012')
    await becomes(reference, digits === '0001' ? '06' : '00', { key });
}

/** The names of the texts that contain a canary. */
function found(
  texts: ReadonlyMap<string, string>,
  canaries: Readonly<Record<string, string>>,
): readonly string[] {
  const lines: string[] = [];
  for (const [name, text] of texts)
    for (const [what, canary] of Object.entries(canaries))
      if (text.includes(canary)) lines.push(`${what} in ${name}`);
  return lines;
}

const canaries = (): Readonly<Record<string, string>> => ({
  'the customer’s number': `220${heart}`,
  ...Object.fromEntries(modules.map((module, index) => [`X-module ${index}`, module.replace(/=+$/, '')])),
  'the customer’s name': personal.customerName,
  'the customer’s e-mail': personal.customerEmail,
  'the key': key,
  'the key in Base64': encodeKey(key).replace(/=+$/, ''),
});
const otp = new RegExp(String.raw`(?<![\dA-Za-z.])${wrongOtp}(?![\dA-Za-z])`);

async function logs(): Promise<ReadonlyMap<string, string>> {
  const directory = join(import.meta.dirname, '..', '..', '..', '.pesewa', 'logs', 'conform-collect');
  const names = (await readdir(directory)).filter((name) => name.endsWith('.log'));
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
    ),
  );
}

/** Every message of every topic of this stack, raw: key, value and headers. */
async function topics(): Promise<ReadonlyMap<string, string>> {
  const { prefix, stack } = collections.scenario;
  const kafka = createTestKafka({ KAFKA_BROKERS: stack.runFile().kafkaBrokers });
  const admin = kafka.admin();
  await admin.connect();
  const names = (await admin.listTopics()).filter((name) => name.startsWith(`${prefix}.`));
  const awaited = new Map<string, bigint>();
  for (const name of names)
    for (const { partition, low, high } of await admin.fetchTopicOffsets(name))
      if (low !== high) awaited.set(`${name} ${partition}`, BigInt(high));
  await admin.disconnect();
  const texts = new Map<string, string>();
  const done = Promise.withResolvers<void>();
  const consumer = kafka.consumer({ groupId: `${prefix}.privacy`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topics: names, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: ({ topic, partition, message }) => {
      const headers = Object.entries(message.headers ?? {}).map(
        ([name, value]) => `${name}: ${String(value)}`,
      );
      const text = [String(message.key), message.value?.toString('latin1'), ...headers].join('\n');
      texts.set(topic, `${texts.get(topic) ?? ''}\n${text}`);
      const place = `${topic} ${partition}`;
      if (BigInt(message.offset) + 1n >= (awaited.get(place) ?? 0n)) awaited.delete(place);
      if (awaited.size === 0) done.resolve();
      return Promise.resolve();
    },
  });
  await done.promise;
  await consumer.disconnect();
  return texts;
}

async function metrics(): Promise<ReadonlyMap<string, string>> {
  const { operations } = collections.scenario.stack.runFile();
  const pages = Object.entries(operations).map(async ([name, url]) => {
    const page = await fetch(`${url}/metrics`);
    expect(page.status).toBe(200);
    return [name, await page.text()] as const;
  });
  return new Map(await Promise.all(pages));
}

/** Every document of every database of this stack. */
async function databases(): Promise<ReadonlyMap<string, string>> {
  const { prefix, stack } = collections.scenario;
  const client = new MongoClient(stack.runFile().mongodbUrl);
  try {
    const { databases: all } = await client.db().admin().listDatabases({ nameOnly: true });
    const texts = new Map<string, string>();
    for (const { name } of all.filter((database) => database.name.startsWith(`${prefix}_`)))
      for (const collection of await client.db(name).collections())
        texts.set(`${name}.${collection.collectionName}`, JSON.stringify(await collection.find().toArray()));
    return texts;
  } finally {
    await client.close();
  }
}

describe('invariant T2: what names a customer, opens an account or completes a payment', () => {
  it('goes its way, right and wrong', async () => {
    key = await collections.addMerchant('canary');
    await Promise.all([
      collectCanary('9999', 'GMQMO'),
      collectCanary('0001', 'GMQMO'),
      collectCanary('0004', 'GMQMO'),
      collectCanary('0016', 'GMQMO'),
      collectCanary('0017', 'GMQMO'),
      collectCanary('0012', 'GMQMO'),
    ]);
    expect(references.size).toBe(6);
  });

  it('is in no answer', () => {
    const texts = new Map(answers.map((text, index) => [`answer ${index}`, text]));
    expect(texts.size).toBe(60);
    expect(found(texts, canaries())).toEqual([]);
    expect(answers.filter((text) => otp.test(text))).toEqual([]);
  });

  it('is in no log', async () => {
    const texts = await logs();
    expect([...texts.values()].join('')).toContain(references.get('0004'));
    expect(found(texts, canaries())).toEqual([]);
    expect([...texts].filter(([, text]) => otp.test(text)).map(([name]) => name)).toEqual([]);
  });

  it('is in no message of any topic', async () => {
    const texts = await topics();
    expect([...texts.values()].join('')).toContain(references.get('9999'));
    expect(found(texts, { ...canaries(), 'the description': description })).toEqual([]);
    expect([...texts].filter(([, text]) => otp.test(text)).map(([name]) => name)).toEqual([]);
  });

  it('is on no page of metrics', async () => {
    const texts = await metrics();
    expect(texts.size).toBe(8);
    expect(found(texts, canaries())).toEqual([]);
  });

  it('an OTP and a key are stored nowhere', async () => {
    const texts = await databases();
    expect([...texts.values()].join('')).toContain(references.get('9999'));
    expect(found(texts, { 'the key': key, 'the key in Base64': encodeKey(key).replace(/=+$/, '') })).toEqual(
      [],
    );
    expect([...texts].filter(([, text]) => otp.test(text)).map(([name]) => name)).toEqual([]);
  });
});
