import { accountNameRecord, payoutCodes, processorRecord, walletRecord } from '@pesewa/contracts';
import { isCurrency, type Money, parseAmount } from '@pesewa/kernel';
import { z } from 'zod';
import type { Answered } from '../call.ts';
import { type AccountName, type Answer, malformed, type Processor, type Unknown, unknown } from '../rail.ts';
import { readEnvelope } from './payouts.ts';

const wallets = z.array(walletRecord.pick({ balance: true, currencyCode: true })).max(500);

const processorList = z.array(z.unknown()).max(5_000);

/** The largest list of processors that is read: it may have thousands, some with long addresses. */
export const PROCESSORS_BYTES_MAX = 4 * 1_024 * 1_024;

/** The codes by which a name enquiry reports that there is no such account or processor (contract 10.1). */
const noAccountCodes: ReadonlySet<string | undefined> = new Set([
  payoutCodes.notFound.code,
  payoutCodes.noRoute.code,
  payoutCodes.malformed.code,
]);

/** Reads the answer to the balance operation (contract 4.4). */
export function readBalances(
  answer: Answered,
): { readonly kind: 'answered'; readonly wallets: readonly Money[] } | Unknown {
  const data = readData(answer, wallets);
  if (data.kind === 'unknown') return data;
  const read: Money[] = [];
  for (const wallet of data.value) {
    if (!isCurrency(wallet.currencyCode)) return unknown('a wallet of no known currency');
    const balance = parseAmount(wallet.balance, wallet.currencyCode);
    if (!balance.ok) return unknown('a wallet with an impossible balance');
    read.push(balance.value);
  }
  return { kind: 'answered', wallets: read };
}

/**
 * Reads the list of processors (contract 4.5).
 *
 * Records that can't be read are left out and reported: one bank's error must not close a country. A list in which no
 * record can be read is no answer.
 */
export function readProcessors(
  answer: Answered,
  leftOut: (records: number, why: string) => void,
): Answer<readonly Processor[]> {
  const data = readData(answer, processorList);
  if (data.kind === 'unknown') return data;
  const processors: Processor[] = [];
  let firstError: z.ZodError | undefined;
  for (const record of data.value) {
    const parsed = processorRecord.safeParse(record);
    if (parsed.success) processors.push(parsed.data);
    else firstError ??= parsed.error;
  }
  if (firstError === undefined) return { kind: 'answered', value: processors };
  const refusal = malformed(answer, firstError);
  if (processors.length === 0) return refusal;
  leftOut(data.value.length - processors.length, refusal.why);
  return { kind: 'answered', value: processors };
}

/** Reads the answer to a name enquiry (contract 4.6), whose success has no responseCode. */
export function readAccountName(answer: Answered): Answer<AccountName | null> {
  const envelope = readEnvelope(answer);
  if ('kind' in envelope) return envelope;
  if (!envelope.isSuccessful) {
    return noAccountCodes.has(envelope.responseCode)
      ? { kind: 'answered', value: null }
      : unknown('the name enquiry was refused');
  }
  const parsed = accountNameRecord.safeParse(envelope.responseData);
  return parsed.success ? { kind: 'answered', value: parsed.data } : malformed(answer, parsed.error);
}

function readData<Schema extends z.ZodType>(answer: Answered, schema: Schema): Answer<z.output<Schema>> {
  const envelope = readEnvelope(answer);
  if ('kind' in envelope) return envelope;
  if (!envelope.isSuccessful || envelope.responseCode !== payoutCodes.answered.code || answer.status >= 300) {
    return unknown(`refused with HTTP ${answer.status}`);
  }
  const parsed = schema.safeParse(envelope.responseData);
  return parsed.success ? { kind: 'answered', value: parsed.data } : malformed(answer, parsed.error);
}
