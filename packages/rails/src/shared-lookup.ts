import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** How `dns.lookup` finds all addresses of a name. */
export type FindAddresses = (hostname: string, found: Found) => void;

const findAddresses: FindAddresses = (hostname, found) => lookup(hostname, { all: true }, found);

/**
 * Builds a lookup for connections that asks the system once for all that wait for the same name: it asks in the few threads
 * that the whole process shares, and one name that is never answered must not take them all.
 */
export function createSharedLookup(find: FindAddresses = findAddresses): LookupFunction {
  const waiting = new Map<string, Found[]>();
  const ask = (hostname: string, found: Found) => {
    const others = waiting.get(hostname);
    if (others) {
      others.push(found);
      return;
    }
    const all = [found];
    waiting.set(hostname, all);
    find(hostname, (error, addresses) => {
      waiting.delete(hostname);
      for (const one of all) one(error, addresses);
    });
  };
  return (hostname, { all, family }, callback) => {
    ask(hostname, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const wanted = addresses.filter(
        (one) => !family || family === one.family || family === `IPv${one.family}`,
      );
      if (all === true) return callback(null, wanted);
      const [first] = wanted;
      if (first) return callback(null, first.address, first.family);
      return callback(
        Object.assign(new Error(`no such address of ${hostname}`), { code: 'ENOTFOUND' }),
        '',
        0,
      );
    });
  };
}
