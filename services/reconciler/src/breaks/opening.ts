import type { ClientSession, Collection } from 'mongodb';
import type { Break, FoundBreak } from '../domain/break.ts';
import { closeBreak, findBreak, findElsewhere, forgetElsewhere } from '../domain/break-finding.ts';
import { placeFinding } from '../domain/discrepancies.ts';
import type { BreakStore, Resolution } from './store.ts';

/** What became of findings. */
export interface Opening {
  /** The breaks that were not open before, to tell of. */
  readonly opened: readonly Break[];
  /** The breaks that tell each finding, by its id; its own first, where it has one. */
  readonly tellers: ReadonlyMap<string, readonly string[]>;
}

/** What became of breaks whose causes are gone. */
export interface Closing {
  readonly closed: readonly Break[];
  /** What others had found too, and still find: it is open now in the place of what closed. */
  readonly opened: readonly Break[];
}

/** Opens and closes breaks so that one discrepancy of a payment is open once, whoever finds it (ADR 31). */
export interface BreakOpening {
  readonly open: (found: readonly FoundBreak[], session: ClientSession) => Promise<Opening>;
  readonly settle: (
    resolutions: readonly Resolution[],
    resolvedAt: Date,
    session: ClientSession,
  ) => Promise<Closing>;
  /** The breaks that would tell all of a finding, by its id. */
  readonly toldElsewhere: (
    found: readonly FoundBreak[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, string>>;
}

/**
 * Builds {@link BreakOpening}. Two transactions side by side can't both open one discrepancy: a unique index over what open
 * breaks have for themselves refuses the second, which is then run again and finds the first.
 */
export function createBreakOpening(
  collection: Collection<Break>,
  store: Pick<BreakStore, 'findAbout' | 'save'>,
): BreakOpening {
  const load = async (found: readonly FoundBreak[], session: ClientSession) => {
    const breaks = await store.findAbout(
      found.map(({ reference }) => reference),
      session,
    );
    return new Map(breaks.map((one) => [one._id, one]));
  };

  const open: BreakOpening['open'] = async (found, session) => {
    if (found.length === 0) return { opened: [], tellers: new Map() };
    const breaks = await load(found, session);
    const before = new Map(breaks);
    // Behind the others: whatever it takes, they have given up before.
    const put = (one: Break) => {
      breaks.delete(one._id);
      breaks.set(one._id, one);
    };
    const tellers = new Map<string, readonly string[]>();
    for (const one of found) {
      const siblings = [...breaks.values()].filter(({ reference }) => reference === one.reference);
      const { own, others } = placeFinding(one, siblings);
      if (own) put(findBreak(own, breaks.get(own._id)));
      for (const [id, part] of others) {
        const teller = breaks.get(id);
        if (teller?.status === 'open') put(findElsewhere(part, teller));
      }
      tellers.set(one._id, [...(own ? [own._id] : []), ...others.keys()]);
    }
    const changed = [...breaks.values()].filter((one) => one !== before.get(one._id));
    await store.save(changed, session);
    const opened = changed.filter(
      ({ _id, status }) => status === 'open' && before.get(_id)?.status !== 'open',
    );
    return { opened, tellers };
  };

  return {
    open,
    settle: async (resolutions, resolvedAt, session) => {
      if (resolutions.length === 0) return { closed: [], opened: [] };
      const why = new Map(resolutions.map(({ id, resolution }) => [id, resolution]));
      const ids = [...why.keys()];
      const found = await collection
        .find(
          {
            $or: [
              { _id: { $in: ids }, status: 'open' },
              { alsoFound: { $exists: true }, 'alsoFound._id': { $in: ids } },
            ],
          },
          { session },
        )
        .toArray();
      const { left, closed, handedOver } = closeAll(found, why, resolvedAt);
      await store.save(left, session);
      return { closed, opened: (await open(handedOver, session)).opened };
    },
    toldElsewhere: async (found, session) => {
      const breaks = [...(await load(found, session)).values()];
      const told = found.flatMap((one): readonly (readonly [string, string])[] => {
        const { own, others } = placeFinding(one, breaks);
        const [teller] = others.keys();
        return own || teller === undefined ? [] : [[one._id, teller]];
      });
      return new Map(told);
    },
  };
}

/** Closes those that have a resolution, and takes what is gone from those that told it for others. */
function closeAll(found: readonly Break[], why: ReadonlyMap<string, string>, resolvedAt: Date) {
  const gone = new Set(why.keys());
  const closed: Break[] = [];
  const handedOver: FoundBreak[] = [];
  const left = found.map((one) => {
    const standing = forgetElsewhere(one, gone);
    const resolution = why.get(one._id);
    if (resolution === undefined || one.status !== 'open') return standing;
    const { alsoFound = [], ...rest } = standing;
    handedOver.push(...alsoFound.map((other) => ({ ...other, openedAt: resolvedAt })));
    const resolved = closeBreak(rest, resolution, resolvedAt);
    closed.push(resolved);
    return resolved;
  });
  return { left, closed, handedOver };
}
