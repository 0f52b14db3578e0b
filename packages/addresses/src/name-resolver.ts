import { promises as dns, type LookupAddress } from 'node:dns';
import { setTimeout } from 'node:timers/promises';

/**
 * Finds the addresses of a host name, at least one; throws {@link NameUnresolvedError}. It gives up once the signal is
 * aborted.
 */
export type ResolveName = (hostname: string, signal?: AbortSignal) => Promise<readonly LookupAddress[]>;

/** No address of a name is known: the name servers know none, or did not answer in time. */
export class NameUnresolvedError extends Error {
  override readonly name = 'NameUnresolvedError';
}

const TRIES = 2;
/** How long the addresses of one family are waited for once those of the other are known (RFC 8305, 3). */
const OTHER_FAMILY_MS = 50;

/**
 * Asks the name servers over the network, each question with a time-out of its own.
 *
 * `dns.lookup` would wait in the few threads that all of the process shares, so that one name server which never answers
 * would stop file access and every other lookup. Names of the hosts file and search domains are unknown here.
 */
export function createNameResolver(
  options: {
    /** Addresses with ports; by default those of the system. */
    readonly nameServers?: readonly string[];
    /** For the first try; the second waits twice as long. */
    readonly timeoutMs?: number;
  } = {},
): ResolveName {
  const { nameServers, timeoutMs = 1_000 } = options;
  return async (hostname, signal) => {
    // Each name has a resolver of its own, because a resolver can only cancel all of its questions together.
    const resolver = new dns.Resolver({ timeout: timeoutMs, tries: TRIES });
    if (nameServers !== undefined) resolver.setServers(nameServers);
    const cancel = () => resolver.cancel();
    signal?.addEventListener('abort', cancel);
    const questions = [resolver.resolve4(hostname), resolver.resolve6(hostname)] as const;
    if (signal?.aborted === true) cancel();
    const answers = Promise.allSettled(questions);
    // Some name servers never answer for a family that a name does not have.
    await Promise.race([
      answers,
      Promise.any(questions).then(
        () => setTimeout(OTHER_FAMILY_MS),
        () => answers,
      ),
    ]);
    cancel();
    const [four, six] = await answers;
    signal?.removeEventListener('abort', cancel);
    const addresses = [...found(four, 4), ...found(six, 6)];
    if (addresses.length > 0) return addresses;
    throw new NameUnresolvedError('the name was not resolved', {
      cause: four.status === 'rejected' ? four.reason : undefined,
    });
  };
}

function found(answer: PromiseSettledResult<readonly string[]>, family: 4 | 6): readonly LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}
