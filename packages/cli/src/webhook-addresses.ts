import { checkAddress, isPublicHost, NameUnresolvedError } from '@pesewa/addresses';
import type { CliPorts } from './ports.ts';

/**
 * Warns of an address whose name does not lead to the public internet as it is resolved from here. It may from the
 * dispatcher, which resolves it again for each webhook; what no webhook is ever sent to, the ledger refuses.
 */
export async function warnOfAddress(
  { resolveName, printError }: Pick<CliPorts, 'resolveName' | 'printError'>,
  option: string,
  text: string,
): Promise<void> {
  const judged = checkAddress(text, []);
  if (!judged.ok) return;
  const warning = await doubtsOf(judged.value.url.hostname, resolveName);
  if (warning !== undefined) printError(`${option}: warning: ${warning}; webhooks wait until that changes\n`);
}

async function doubtsOf(hostname: string, resolveName: CliPorts['resolveName']): Promise<string | undefined> {
  // A literal address has been judged, and is no name.
  if (/^\[|^[\d.]+$/.test(hostname)) return undefined;
  try {
    const inner = (await resolveName(hostname))
      .map(({ address }) => address)
      .filter((one) => !isPublicHost(one));
    return inner.length === 0 ? undefined : `${hostname} leads to ${inner.join(', ')}, which is not public`;
  } catch (error) {
    if (error instanceof NameUnresolvedError) return `the name servers asked from here know no ${hostname}`;
    throw error;
  }
}
