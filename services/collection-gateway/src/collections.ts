import { type LimitUsage, openLimitUsage } from '@pesewa/merchant-api';
import { idOf, type Transaction } from '@pesewa/messaging';
import { addStep } from '@pesewa/payments';
import { collectionDecider } from './domain/collection.ts';
import { describe } from './domain/describe.ts';
import type { NumberLimit } from './domain/limits.ts';
import type { CollectionCommand, CollectionDomainEvent, CollectionStateRefusal } from './domain/state.ts';
import { eventOf } from './events.ts';
import { type AcceptCollection, createPayins, type PayinDeps } from './payins.ts';
import type { Collection, CollectionChange } from './store.ts';

/**
 * A command for one collection, and the id of the event behind it; null for a request, and if it is the event that
 * changed it last.
 */
export interface CausedCommand {
  readonly reference: string;
  readonly command: CollectionCommand;
  readonly causationId: string | null;
  /** The limits that it counts towards unless it is refused; if one is used up, it is refused. */
  readonly limits?: readonly NumberLimit[];
  /** The limits that counted it earlier; these counts are undone if the command gives back the try. */
  readonly counted?: readonly NumberLimit[];
}

/** The result of a command: the collection in its present state, and why nothing changed if nothing did. */
export interface Applied {
  readonly collection: Collection;
  readonly refusal: CollectionStateRefusal | null;
}

/** The collection gateway's use cases: accepts, shows and advances collections. */
export interface Collections {
  readonly accept: AcceptCollection;
  readonly find: (merchantId: string, reference: string) => Promise<Collection | undefined>;
  /** Applies commands within a transaction: loads, decides in order, saves, emits. */
  readonly apply: (
    commands: readonly CausedCommand[],
    transaction: Transaction,
  ) => Promise<readonly (Applied | undefined)[]>;
  /** Commits the outcome of a call to a rail; undefined for a reference that is not ours. */
  readonly recordOutcome: (command: CausedCommand) => Promise<Applied | undefined>;
}

interface CollectionsDeps extends PayinDeps {
  readonly refused: (refusal: CollectionStateRefusal, reference: string) => void;
}

/** Builds {@link Collections}. */
export function createCollections(deps: CollectionsDeps): Collections {
  const apply = createApply(deps);
  const outcomes = deps.messaging.groupCommit<CausedCommand, Applied | undefined>(
    'collections.outcome',
    apply,
    { ownerOf: ({ counted = [], reference }) => counted.at(-1)?.id ?? reference },
  );
  return {
    accept: createPayins(deps),
    find: deps.store.find,
    apply,
    recordOutcome: outcomes.submit,
  };
}

function createApply({ store, usage, clock, refused }: CollectionsDeps): Collections['apply'] {
  return async (commands, transaction) => {
    const { session } = transaction;
    const references = [...new Set(commands.map(({ reference }) => reference))];
    const loaded = await store.findByReferences(references, session);
    const limits = commands.flatMap(({ limits: counts = [], counted = [] }) => [...counts, ...counted]);
    const book = openLimitUsage(await usage.read(limits, session));
    const changes = new Map<string, CollectionChange>(
      loaded.map((collection) => [collection.reference, { before: collection, after: collection }]),
    );
    const applied = commands.map((order): Applied | undefined => {
      const change = changes.get(order.reference);
      if (!change) return undefined;
      const decided = decide(order, change.after, book);
      if (typeof decided === 'string') {
        refused(decided, order.reference);
        return { collection: change.after, refusal: decided };
      }
      let { after } = change;
      for (const domainEvent of decided) {
        const { attempts: number, attemptedAtMs: claimedAtMs } = after;
        const attempt = { number, claimedAtMs };
        const atMs = clock.nowMs();
        const timeline = addStep(after.timeline, {
          what: describe(domainEvent, after),
          atMs,
          attempt,
        });
        // A merchant's request has no causing event; its own event becomes the cause of what follows.
        const causationId =
          domainEvent.kind === 'completionRequested' ? null : (order.causationId ?? after.causedBy);
        after = { ...after, ...collectionDecider.evolve(after, domainEvent), timeline };
        const event = eventOf(domainEvent, after, { causationId, atMs });
        if (event) transaction.emit(event);
        after = { ...after, causedBy: causationId ?? (event ? idOf(event) : after.causedBy) };
      }
      changes.set(order.reference, { before: change.before, after });
      return { collection: after, refusal: null };
    });
    await usage.save(book.changes(), session);
    await store.save(
      [...changes.values()].filter(({ before, after }) => before !== after),
      session,
    );
    return applied;
  };
}

/**
 * The domain events of a command, counted towards its limits, or why there are none: the state's own refusals come first.
 */
function decide(
  { command, limits = [], counted = [] }: CausedCommand,
  collection: Collection,
  book: LimitUsage,
): readonly CollectionDomainEvent[] | CollectionStateRefusal {
  const decision = collectionDecider.decide(command, collection);
  if (!decision.ok) return decision.refusal;
  if (book.add(limits)) return 'collection.number_limit';
  if (decision.value.some(({ kind }) => kind === 'completionReturned')) book.subtract(counted);
  return decision.value;
}
