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
