import type { ClientSession, Collection } from 'mongodb';
import type { Break, FoundBreak } from '../domain/break.ts';
import { closeBreak, findBreak, findElsewhere, forgetElsewhere } from '../domain/break-finding.ts';
import { placeFinding } from '../domain/discrepancies.ts';

/** A break and why it closes. */
export interface Resolution {
  readonly id: string;
  readonly resolution: string;
}

/** The breaks as they are read and written when some open or close. */
export interface BreakRecords {
  /** All breaks about some payments, open or not; at most one of each kind. */
  readonly findAbout: (references: readonly string[], session: ClientSession) => Promise<readonly Break[]>;
  /** Writes breaks that were read in the same transaction; a conflict aborts it. */
  readonly save: (breaks: readonly Break[], session: ClientSession) => Promise<void>;
}

/** The result of opening breaks for findings. */
export interface Opening {
  /** The breaks that were not open before, to be published. */
  readonly opened: readonly Break[];
  /** The breaks that cover each finding, by the finding's id; its own first, if it has one. */
  readonly coveringBreaks: ReadonlyMap<string, readonly string[]>;
}

/** The result of closing breaks whose causes are gone. */
export interface BreakUpdate {
  readonly closed: readonly Break[];
  /** Breaks for findings of other kinds that the closed ones had covered and that still exist. */
  readonly opened: readonly Break[];
}

/** Opens and closes breaks so that each discrepancy of a payment is open only once, whatever finds it (ADR 31). */
export interface BreakOpening {
  readonly open: (found: readonly FoundBreak[], session: ClientSession) => Promise<Opening>;
  readonly update: (
    resolutions: readonly Resolution[],
    resolvedAt: Date,
    session: ClientSession,
  ) => Promise<BreakUpdate>;
  /** The breaks that would cover all of a finding, by the finding's id. */
  readonly coveredElsewhere: (
    found: readonly FoundBreak[],
    session: ClientSession,
  ) => Promise<ReadonlyMap<string, string>>;
}

/**
 * Builds {@link BreakOpening}. Two concurrent transactions can't both open the same discrepancy: a unique index over
 * `coveredKeys` refuses the second, which then reruns and finds the first.
 */
export function createBreakOpening(collection: Collection<Break>, store: BreakRecords): BreakOpening {
  const load = async (found: readonly FoundBreak[], session: ClientSession) => {
    const breaks = await store.findAbout(
      found.map(({ reference }) => reference),
      session,
    );
    return new Map(breaks.map((one) => [one._id, one]));
  };

  const open: BreakOpening['open'] = async (found, session) => {
    if (found.length === 0) return { opened: [], coveringBreaks: new Map() };
    const breaks = await load(found, session);
    const before = new Map(breaks);
    // Placed last, so that a break is written after those that have given up what it takes over.
    const put = (one: Break) => {
      breaks.delete(one._id);
      breaks.set(one._id, one);
    };
    const coveringBreaks = new Map<string, readonly string[]>();
    for (const one of found) {
      const siblings = [...breaks.values()].filter(({ reference }) => reference === one.reference);
      const { own, others } = placeFinding(one, siblings);
      if (own) put(findBreak(own, breaks.get(own._id)));
      for (const [id, part] of others) {
        const coveringBreak = breaks.get(id);
        if (coveringBreak?.status === 'open') put(findElsewhere(part, coveringBreak));
      }
      coveringBreaks.set(one._id, [...(own ? [own._id] : []), ...others.keys()]);
    }
    const changed = [...breaks.values()].filter((one) => one !== before.get(one._id));
    await store.save(changed, session);
    const opened = changed.filter(
      ({ _id, status }) => status === 'open' && before.get(_id)?.status !== 'open',
    );
    return { opened, coveringBreaks };
  };

  return {
    open,
    update: async (resolutions, resolvedAt, session) => {
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
    coveredElsewhere: async (found, session) => {
      const breaks = [...(await load(found, session)).values()];
      const covered = found.flatMap((one): readonly (readonly [string, string])[] => {
        const { own, others } = placeFinding(one, breaks);
        const [coveringBreak] = others.keys();
        return own || coveringBreak === undefined ? [] : [[one._id, coveringBreak]];
      });
      return new Map(covered);
    },
  };
}

/** Closes breaks with a resolution, and removes findings that are gone from the breaks that covered them. */
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
