import { railSettingsOf } from './connectors.ts';
import type { ConnectorDefinition } from './define-connector.ts';
import type { Transport } from './http-transport.ts';
import { answering, createTestClock } from './rails.fixture.ts';
import { openRails } from './rails.ts';

/** An answer of a rail: its HTTP status and its body, which is sent as JSON. */
export type Said = readonly [status: number, body: unknown];

/** How a connector's rail says about `po-1`, 100.50 GHS, what every rail has to say about payouts. */
export interface PayoutWords {
  readonly submission: {
    readonly accepted: Said;
    readonly aboutAnother: Said;
    readonly duplicate: Said;
    readonly refused: (reason: string) => Said;
  };
  readonly lookup: Lookup;
  readonly callback: (reason: string) => string;
}

/** The same for collections, about `co-1`. */
export interface CollectionWords {
  readonly initiation: Omit<PayoutWords['submission'], 'aboutAnother'>;
  readonly completion: { readonly accepted: Said; readonly refused: (reason: string) => Said };
  readonly lookup: Omit<Lookup, 'aboutAnother' | 'failed'> & { readonly failed: Said };
  readonly callback: (reason: string) => string;
}

/** How a rail says how a payment stands. */
export interface Lookup {
  readonly pending: Said;
  readonly completed: Said;
  readonly notFound: Said;
  readonly aboutAnother: Said;
  readonly failed: (reason: string) => Said;
}

/** A connector under test, with its rail's own words. */
export interface ConnectorCase {
  readonly name: string;
  readonly connector: ConnectorDefinition;
  /** An entry of `RAILS` with what the connector requires. */
  readonly entry: object;
  readonly payouts?: PayoutWords;
  readonly collections?: CollectionWords;
}

/** Reads the setting `RAILS` with this one rail. */
export function readRails({ name, connector, entry }: ConnectorCase, settings: object) {
  const rail = { name: 'rail', connector: name, ...entry, ...settings };
  return railSettingsOf({ [name]: connector }).safeParse(JSON.stringify([rail]));
}

/** Opens the rail over a network; keeps what it asks and logs. */
export function openRail(one: ConnectorCase, transport: Transport, settings: object = {}) {
  const logged: unknown[] = [];
  const asked: string[] = [];
  const note = (...line: unknown[]) => void logged.push(line);
  const [rail] = openRails(readRails(one, settings).data ?? [], {
    clock: createTestClock(),
    logger: { warn: note, info: note },
    transport: (request) => {
      asked.push(`${request.url} ${request.body ?? ''} ${JSON.stringify(request.headers)}`);
      return transport(request);
    },
  }).all;
  if (!rail) throw new Error('no rail was opened');
  return { rail, logged, asked };
}

/** The rail, which answers everything with the same words. */
export const saying = (one: ConnectorCase, [status, body]: Said, settings?: object) =>
  openRail(one, answering(status, body), settings).rail;
