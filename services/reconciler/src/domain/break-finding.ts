import type { Break, FoundBreak } from './break.ts';
import { changed, openedAgain, resolved } from './break-versions.ts';

/**
 * The break after its discrepancy was found: a new one, or the existing one changed.
 *
 * A resolved break is opened again and has no owner then; an open one gets the new amount. The same object means that
 * nothing is new.
 */
export function findBreak(found: FoundBreak, current: Break | undefined): Break {
  const { openedAt: at, amount, detail } = found;
  if (!current) {
    const opened = { at, by: null, what: 'opened', amount } as const;
    return { ...found, status: 'open', since: at, version: 1, history: [opened] };
  }
  const { reports: _reports, coveredKeys: _coveredKeys, ...before } = current;
  if (current.status === 'resolved') {
    const foundAgain = { ...found, openedAt: current.openedAt };
    return openedAgain({ ...before, ...foundAgain }, { at, by: null, what: 'opened again', amount });
  }
  if (isSameFinding(found, current)) return current;
  const { reports, coveredKeys } = found;
  const next = {
    ...before,
    amount,
    detail,
    ...(reports && { reports }),
    ...(coveredKeys && { coveredKeys }),
  };
  return changed(next, { at, by: null, what: 'found again', amount });
}

/** The break after another kind has found a difference that it covers; the same object if that is no news. */
export function findElsewhere(found: FoundBreak, current: Break): Break {
  const known = current.alsoFound ?? [];
  const before = known.find(({ _id }) => _id === found._id);
  if (before && isSameFinding(found, before)) return current;
  const alsoFound = [...known.filter((one) => one !== before), found];
  const { openedAt: at, amount, kind, detail } = found;
  return changed(
    { ...current, alsoFound },
    { at, by: null, what: 'found again', text: `${kind}: ${detail}`, amount },
  );
}

/** The break without findings of other kinds that no longer exist. */
export function forgetElsewhere(current: Break, ids: ReadonlySet<string>): Break {
  const { alsoFound = [], ...rest } = current;
  const left = alsoFound.filter(({ _id }) => !ids.has(_id));
  return left.length === alsoFound.length
    ? current
    : { ...rest, ...(left.length > 0 && { alsoFound: left }) };
}

function isSameFinding(one: FoundBreak, other: FoundBreak): boolean {
  return contentOf(one) === contentOf(other);
}

function contentOf({ amount, detail, reports = [], coveredKeys = [] }: FoundBreak): string {
  const parts = reports.map((reported) => `${reported.field}=${reported.amount}`);
  return JSON.stringify([String(amount), detail, parts, coveredKeys]);
}

/** The break closed by itself, with a reason; the same object if it is resolved already. */
export function closeBreak(current: Break, resolution: string, at: Date): Break {
  return current.status === 'resolved' ? current : resolved(current, { by: null, at }, resolution);
}
