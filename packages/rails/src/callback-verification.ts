import { createAddressList } from '@pesewa/addresses';
import { type SignatureRefusal, verifyWebhook, type WebhookHeaders } from '@pesewa/signatures';
import type { CallbackEvidence, CallbackVerdict, Rail } from './rail.ts';
import type { CommonSettings } from './settings.ts';

const TOLERANCE_SECONDS = 300;

/**
 * The form that a header must have in addition to a valid signature. What was sent twice is refused; a proxy may join both
 * by a comma first. No form allows that comma: otherwise the verified part and the part that other code reads could differ.
 */
const forms = {
  'webhook-id': /^[\x21-\x2b\x2d-\x7e]{1,256}$/,
  'webhook-signature': /^[^\s,]+,[^\s,]+(?: [^\s,]+,[^\s,]+)*$/,
} as const;

const verdicts: Readonly<Record<SignatureRefusal, CallbackVerdict['signature']>> = {
  'signature.missing': 'missing',
  'signature.malformed': 'wrong',
  'signature.stale': 'expired',
  'signature.wrong': 'wrong',
};

/**
 * Builds the function that judges a rail's callbacks: addresses by its list, signatures after Standard Webhooks by its
 * secrets.
 */
export function createCallbackVerifier(
  settings: Pick<CommonSettings, 'callbackAddresses' | 'callbackSecrets' | 'callbacks'>,
): Rail['verifyCallback'] {
  const { callbackSecrets: secrets } = settings;
  const allowed = createAddressList(settings.callbackAddresses);
  const checkAddress = (address: string | undefined) => {
    if (settings.callbackAddresses.length === 0) return 'any';
    return allowed.has(address) ? 'allowed' : 'unlisted';
  };
  const judgeSignature = ({ headers, body, receivedAtMs }: CallbackEvidence): Judged => {
    if (secrets.length === 0) return { signature: 'not_required', messageId: null };
    const given = readHeaders(headers);
    if (typeof given === 'string') return { signature: given, messageId: null };
    const verified = verifyWebhook({
      headers: { ...given },
      body,
      secrets,
      nowMs: receivedAtMs,
      toleranceSeconds: TOLERANCE_SECONDS,
    });
    return verified.ok
      ? { signature: 'verified', messageId: verified.value.id }
      : { signature: verdicts[verified.refusal], messageId: null };
  };
  return (evidence) => {
    const judged = judgeSignature(evidence);
    return {
      address: checkAddress(evidence.clientAddress),
      ...judged,
      proven: judged.signature === 'verified' && settings.callbacks === 'proven',
    };
  };
}

type Judged = Pick<CallbackVerdict, 'signature' | 'messageId'>;

/** The three headers, or why they can't prove anything. */
function readHeaders(headers: CallbackEvidence['headers']): WebhookHeaders | 'missing' | 'wrong' {
  const values = (wanted: string) =>
    headers.filter(({ name }) => name.toLowerCase() === wanted).map(({ value }) => value);
  const ids = values('webhook-id');
  const timestamps = values('webhook-timestamp');
  const signatures = values('webhook-signature');
  const [id, timestamp, signature] = [ids[0], timestamps[0], signatures[0]];
  if (!id || !timestamp || !signature) return 'missing';
  const isSentOnce = [ids, timestamps, signatures].every(({ length }) => length === 1);
  const isWellFormed = forms['webhook-id'].test(id) && forms['webhook-signature'].test(signature);
  if (!isSentOnce || !isWellFormed) return 'wrong';
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}
