import {
  type Break,
  changed,
  type FoundBreak,
  type Observation,
  openedAgain,
  resolved,
  type Withdrawal,
} from './break.ts';
import { type BreakKind, type Field, type Observer, termsOfBreak } from './break-kinds.ts';
import type { Finding } from './judging.ts';

/** How much one observer may say of a field: more than callbacks can claim. */
const ABOUT_MAX = 40;

/** The `_id` of the break of a field. */
export function breakId(reference: string, field: Field): string {
  return `${reference}/${field}`;
}

/** A finding as an observation, at a rail and in a currency as far as they are known. */
export function toFoundBreak(
  reference: string,
  { kind, field, observer, ...said }: Finding,
  { rail, currency }: { readonly rail?: string | undefined; readonly currency: string | null },
  at: Date,
): FoundBreak {
  const of = termsOfBreak(kind);
  const where = { reference, field: field ?? of.field, ...(rail !== undefined && { rail }), currency };
  return { ...where, kind, observer: observer ?? of.observer, ...said, at };
}

/** What is no longer said of a field: a kind, at its field unless another is named, by one observer or by any. */
export function toWithdrawal(
  reference: string,
  gone: Omit<Withdrawal, 'reference' | 'field' | 'at'> & Partial<Pick<Withdrawal, 'field'>>,
  at: Date,
): Withdrawal {
  return { field: termsOfBreak(gone.kind).field, ...gone, reference, at };
}

/**
 * The break after an observation of its field: a new one, or the existing one changed.
 *
 * It replaces the observer's former one of its kind. A resolved break is opened again, and has no owner then, unless people had seen
 * this when they resolved it, or an order has corrected as much. What no observer had said yet is not explained. The same object means that nothing is new.
 */
export function observe(found: FoundBreak, current: Break | undefined): Break {
  const { reference, field, cause: _cause, ...observation } = found;
  const { at, amount, kind, detail, currency } = observation;
  if (!current) {
    const subject = { _id: breakId(reference, field), field, reference };
    const history = [{ at, by: null, what: 'opened', amount }] as const;
    const fresh = { ...subject, openedAt: at, since: at, version: 1, status: 'open', history } as const;
    return shown({ ...fresh, kind, amount, detail, currency, observations: [] }, [observation]);
  }
  if (isSettled(found, current)) return current;
  if (current.status === 'resolved') {
    return openedAgain(shown(current, [observation]), { at, by: null, what: 'opened again', amount });
  }
  const before = current.observations.find((one) => one.observer === found.observer && one.kind === kind);
  if (before && says(before, observation)) return current;
  const observations = before
    ? current.observations.map((one) => (one === before ? added(before, observation) : one))
    : [...current.observations, observation];
  const text = before && kind === current.kind ? {} : { text: `${kind}: ${detail}` };
  const { explanation: _, ...unexplained } = current;
  const next = shown(before ? current : unexplained, observations);
  return changed(next, { at, by: null, what: 'found again', ...text, amount });
}

/**
 * The break once an observer no longer says what it said; it closes when no other says otherwise. What people have judged
 * of it is news if it is said again.
 */
export function withdraw(gone: Withdrawal, current: Break): Break {
  const { observer, kind, resolution, at } = gone;
  const before = current.judged ?? [];
  const said = `${kind} ${observer === undefined ? '' : `${observer} `}`;
  const judged = before.filter((key) => !key.startsWith(said));
  const next = judged.length === before.length ? current : { ...current, judged };
  if (next.status === 'resolved') return next;
  const left = next.observations.filter(
    (one) => one.kind !== kind || (observer !== undefined && one.observer !== observer),
  );
  if (left.length === next.observations.length) return next;
  if (left.length === 0) return resolved(next, { by: null, at }, resolution);
  return changed(shown(next, left), { at, by: null, what: 'found no more', text: `${kind}: ${resolution}` });
}

/** What a person who resolves the break has judged: not what the next run may find again, unless it says which it was. */
export function judgedOf({ observations, judged = [] }: Break): readonly string[] {
  const seen = observations
    .filter(({ kind, about }) => about !== undefined || !isFoundAgain(kind))
    .flatMap(keysOf);
  return [...new Set([...judged, ...seen])];
}

/** The break of which people have judged nothing that it holds, so that they look at it again. */
export function unjudged(current: Break): Break {
  const held = current.observations.flatMap(keysOf);
  return { ...current, judged: (current.judged ?? []).filter((key) => !held.includes(key)) };
}

/** Whether a kind may be found again after a person has resolved its break. */
export function isFoundAgain(kind: BreakKind): boolean {
  const { manualResolution } = termsOfBreak(kind);
  return manualResolution === 'again' || manualResolution === 'decided';
}

/** Whether an observation is nothing new: judged by people, or corrected by an order of the ledger. */
function isSettled(found: FoundBreak, { judged = [] }: Break): boolean {
  // A balance may differ by the same amount twice: an order moves the float itself.
  if (found.field !== 'balance' && judged.includes(amountKey(found.amount))) return true;
  return keysOf(found).every((key) => judged.includes(key));
}

/** An amount that an order has corrected, among what is {@link Break.judged}. */
export function amountKey(amount: bigint | null): string {
  return `amount ${amount}`;
}

function keysOf({ observer, kind, about = [''] }: Observation): readonly string[] {
  return about.map((what) => `${kind} ${observer} ${what}`);
}

/** Whether an observer has said all this already; callbacks have many senders, and may take turns. */
function says(before: Observation, { amount, detail, about, rail, currency }: Observation): boolean {
  if (about && isCallback(before.observer)) {
    // While our end is open, it is unknown what another end differs by.
    if (before.observer === 'provenCallback' && before.amount === null && amount !== null) return false;
    return about.every((what) => before.about?.includes(what)) || (before.about?.length ?? 0) >= ABOUT_MAX;
  }
  if (before.rail !== rail || before.currency !== currency) return false;
  return before.amount === amount && before.detail === detail;
}

const isCallback = (observer: Observer) => observer === 'callback' || observer === 'provenCallback';

/** An observer's newest word, with since when it says its amount; of callbacks what they said before too. */
function added(before: Observation, observation: Observation): Observation {
  const { amount, currency } = observation;
  const isKnown = amount !== null && before.amount === amount && before.currency === currency;
  const next = isKnown ? { ...observation, at: before.at } : observation;
  if (!isCallback(before.observer) || !observation.about) return next;
  return { ...next, about: [...new Set([...(before.about ?? []), ...observation.about])] };
}

/** How strongly a kind binds people, the strongest first: what waits for an end, what runs find. */
const RANKS = { decided: 0, ended: 0, again: 2, final: 4 } as const;
/** After all of these: what anybody may have claimed. */
const CLAIMED = 6;
/** The kinds of which people are called at once: two records of the same money differ. */
const OVER_MONEY =
  /^(payout\.(amount_differs|refused_again)|payment\.contradiction|books\.(unposted|unreleased|posted_wrongly|unexplained_entry)|(coverage|close|statement)\..+)$/;

/** The break as its strongest observation has it, of equal ones that over money, then the first. */
export function shown(current: Break, observations: readonly Observation[]): Break {
  const [strongest] = observations.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (!strongest) return current;
  const { kind, amount, detail, rail, currency } = strongest;
  const { rail: _rail, proposedResolution: _proposed, ...next } = current;
  return { ...next, kind, amount, detail, currency, ...(rail !== undefined && { rail }), observations };
}

function rankOf({ kind, observer }: Observation): number {
  const rank = observer === 'callback' ? CLAIMED : RANKS[termsOfBreak(kind).manualResolution];
  return isOverMoney(kind) ? rank : rank + 1;
}

/** Whether the alert BreakOverMoney is about the kind. */
export function isOverMoney(kind: string): boolean {
  return OVER_MONEY.test(kind);
}
