import type { TestView, testKinds } from '@pesewa/contracts';
import { inWords } from './labels.ts';

/**
 * Which side has to do something about a test webhook, and what.
 *
 * @param how `rule`: what the address must be, if it breaks a rule; `setAddress`: where or with what an address is set
 */
export function describeTest(
  met: TestView,
  how: { readonly kind: (typeof testKinds)[number]; readonly rule: string; readonly setAddress: string },
): string {
  const { kind, rule, setAddress } = how;
  switch (met.finding) {
    case 'delivered':
      return `the endpoint took it with ${met.status}`;
    case 'no_address':
      return `the merchant has no address for ${kind} webhooks: set one ${setAddress}`;
    case 'address_refused':
      return `nothing was sent, the address is never called, it ${rule}: change it ${setAddress}`;
    case 'name_not_public':
      return 'nothing was sent: the name of the host leads to an address that is not public';
    case 'name_unresolved':
      return 'nothing was sent: the name servers know no address of the host';
    case 'redirected':
      return `the endpoint answered ${met.status}, a redirect, which is not followed: set the address it leads to ${setAddress}`;
    case 'answered':
      return `the endpoint answered ${met.status}; only 2xx counts as delivered`;
    case 'no_answer':
      return `there was no answer: ${inWords(met.error ?? '')} (a whole attempt may take ${met.deadlineMs} ms)`;
  }
}

/** How a test webhook was connected, secured and signed; undefined for what it did not come to. */
export function describeConnection({ address, connectedTo, tls, tlsProblem, signature }: TestView) {
  const without = address?.startsWith('https:')
    ? 'the certificate could not be read'
    : 'none: the address is http';
  return {
    connected: connectedTo ?? undefined,
    tls: describeTls(tls, tlsProblem) ?? (connectedTo === null ? undefined : without),
    signature: signature ? describeSignature(signature) : undefined,
  };
}

function describeTls(tls: TestView['tls'], problem: string | null): string | undefined {
  if (problem !== null) return `it failed: ${inWords(problem)}`;
  if (!tls) return undefined;
  return `${tls.version}; the certificate is by ${tls.issuer || 'nobody named'}, until ${tls.expiresAt}`;
}

function describeSignature({ header, count, verifies }: NonNullable<TestView['signature']>): string {
  const signed = count > 1 ? `${header}, by the new secret and the old one,` : header;
  return verifies
    ? `${signed} verifies with the secret on record; if yours refuses it, compare the secret and the clock`
    : `${signed} does not verify with the secret on record: rotate it`;
}
