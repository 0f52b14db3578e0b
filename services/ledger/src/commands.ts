import { walletKeyOf } from '@pesewa/contracts';
import { accept, type Clock, type Ids, type Money, type Result, refuse } from '@pesewa/kernel';
import type { Messaging, OutgoingEvent } from '@pesewa/messaging';
import type { ClientSession, Collection, Db } from 'mongodb';
import type { LedgerStore } from './store.ts';

/** An operator's order to the ledger; the treasury pays. */
export interface FundCommand {
  readonly commandId: string;
  /** Where the money goes: a merchant's wallet, or our float at a rail. */
  readonly kind: 'fund' | 'fundFloat';
  /** The merchant, or the rail. */
  readonly target: string;
  readonly amount: Money;
  readonly requestedBy: string;
}

/** A command as MongoDB holds it; `_id` is its id, so each is taken once. */
interface CommandDocument {
  readonly _id: string;
  readonly kind: FundCommand['kind'];
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly requestedBy: string;
  readonly at: Date;
}

/** The orders of operators: taken here, applied when their event comes back from its topic. */
export interface Commands {
  /** Takes a command once; the same again is the same, other content under its id is refused. */
  readonly submit: (
    command: Omit<FundCommand, 'commandId'>,
    commandId?: string,
  ) => Promise<Result<string, 'command.differs'>>;
  readonly status: (commandId: string) => Promise<'applied' | 'pending' | undefined>;
}

/** Builds {@link Commands}. */
export function createCommands(deps: {
  readonly db: Db;
  readonly store: LedgerStore;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly ids: Ids;
  readonly clock: Clock;
}): Commands {
  const collection = deps.db.collection<CommandDocument>('commands');
  const taking = deps.messaging.groupCommit<CommandDocument, CommandDocument>(
    'ledger.command',
    async (wanted, transaction, careful) => {
      const taken = careful
        ? await findTaken(collection, wanted, transaction.session)
        : new Map<string, CommandDocument>();
      const fresh: CommandDocument[] = [];
      for (const command of wanted) {
        if (taken.has(command._id)) continue;
        taken.set(command._id, command);
        fresh.push(command);
      }
      if (fresh.length > 0) await collection.insertMany(fresh, { session: transaction.session });
      for (const command of fresh) transaction.emit(eventOf(command));
      return wanted.map((command) => taken.get(command._id) ?? command);
    },
  );
  return {
    submit: async ({ kind, target, amount, requestedBy }, commandId) => {
      const _id = commandId ?? deps.ids.next('cm');
      const at = new Date(deps.clock.nowMs());
      const { minor, currency } = amount;
      const taken = await taking.submit({ _id, kind, target, currency, amount: minor, requestedBy, at });
      const same =
        taken.kind === kind &&
        taken.target === target &&
        taken.currency === currency &&
        taken.amount === minor;
      return same ? accept(taken._id) : refuse('command.differs');
    },
    status: async (commandId) => {
      const command = await collection.findOne({ _id: commandId });
      if (!command) return undefined;
      return (await deps.store.hasEntry(`${commandId}/${command.kind}`)) ? 'applied' : 'pending';
    },
  };
}

async function findTaken(
  collection: Collection<CommandDocument>,
  wanted: readonly CommandDocument[],
  session: ClientSession,
): Promise<Map<string, CommandDocument>> {
  const found = await collection.find({ _id: { $in: wanted.map(({ _id }) => _id) } }, { session }).toArray();
  return new Map(found.map((command) => [command._id, command]));
}

function eventOf(command: CommandDocument): OutgoingEvent {
  const { _id, target, currency, amount, requestedBy, at } = command;
  const occurredAt = BigInt(at.getTime());
  const payload = { eventId: _id, occurredAt, requestedBy, approvedBy: null, amount, currency };
  const address = {
    topic: 'ledgerCommands',
    key: walletKeyOf(target, currency),
    version: 0n,
    causationId: null,
  } as const;
  return command.kind === 'fund'
    ? { ...address, type: 'pesewa.ledger.FundWallet', payload: { ...payload, merchantId: target } }
    : { ...address, type: 'pesewa.ledger.FundFloat', payload: { ...payload, rail: target } };
}
