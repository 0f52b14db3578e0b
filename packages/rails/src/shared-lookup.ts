import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** How `dns.lookup` finds all addresses of a name. */
export type FindAddresses = (
  hostname: string,
  found: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const findAddresses: FindAddresses = (hostname, found) => lookup(hostname, { all: true }, found);

/**
 * Builds a lookup for connections that asks the system once for all that wait for the same name: it asks in the few threads
 * that the whole process shares, and one name that is never answered must not take them all.
 */
export function createSharedLookup(find: FindAddresses = findAddresses): LookupFunction {
  const waiting = new Map<string, Promise<LookupAddress[]>>();
  const ask = (hostname: string): Promise<LookupAddress[]> => {
    const asked = new Promise<LookupAddress[]>((resolve, reject) => {
      find(hostname, (error, addresses) => (error ? reject(error) : resolve(addresses)));
    });
    waiting.set(hostname, asked);
    const forget = () => void waiting.delete(hostname);
    asked.then(forget, forget);
    return asked;
  };
  return (hostname, { all, family }, callback) => {
    (waiting.get(hostname) ?? ask(hostname)).then(
      (addresses) => {
        const wanted = addresses.filter(
          (one) => !family || family === one.family || family === `IPv${one.family}`,
        );
        const [first] = wanted;
        if (all === true) callback(null, wanted);
        else if (first) callback(null, first.address, first.family);
        else
          callback(Object.assign(new Error(`${hostname} has no such address`), { code: 'ENOTFOUND' }), '', 4);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 4),
    );
  };
}
