import { isEnd } from './claim.ts';
import type { Finding, Question } from './question.ts';
import type { Known, Tracked } from './tracked.ts';

/** So much of a kind is told of one payment; more than callbacks can claim, and enough of a rail that says ever else. */
const KNOWN_MAX = 40;

const LOOKUP = 'lookup ';

/** What a finding is about where the rail's lookup says so: it may take that back, and say it anew. */
export function lookupSays(what: string): string {
  return `${LOOKUP}${what}`;
}

/**
 * One finding of each kind that is news: its payment has no break of the kind, or one that has not told this.
 *
 * It is about all that was found of the kind, so that the next answer tells none of that once more.
 */
export function newFindings(
  tracked: Pick<Tracked, 'breaks' | 'known'>,
  findings: readonly Finding[],
): readonly Finding[] {
  return [...new Set(findings.map(({ kind }) => kind))].flatMap((kind) => {
    const alike = findings.filter((finding) => finding.kind === kind);
    const first = alike.find((finding) => isNews(tracked, finding));
    if (!first) return [];
    const about = [...new Set(alike.flatMap((finding) => finding.about ?? []))];
    return [{ ...first, ...(about.length > 0 && { about }) }];
  });
}

function isNews(
  { breaks, known }: Pick<Tracked, 'breaks' | 'known'>,
  { kind, about = [] }: Finding,
): boolean {
  if (!breaks.includes(kind)) return true;
  const told = known.filter((one) => one.kind === kind);
  return told.length < KNOWN_MAX && about.some((what) => told.every((one) => one.about !== what));
}

/** What is known once findings have been told: the breaks that tell them stand. */
export function afterFindings(known: readonly Known[], findings: readonly Finding[]): readonly Known[] {
  return findings.reduce((before, { kind, about = [] }) => {
    const others = before.filter((one) => one.kind !== kind);
    const told = before.filter((one) => one.kind === kind).map((one) => one.about);
    const all = [...new Set([...told, ...about])].slice(0, KNOWN_MAX);
    return [...others, ...all.map((what): Known => ({ kind, about: what, since: 'told' }))];
  }, known);
}

/** What is known once a person has resolved a break: what the lookup said is asked for once more. */
export function afterResolved(known: readonly Known[], kind: string): readonly Known[] {
  return known.map((one) =>
    one.kind === kind && one.about.startsWith(LOOKUP) ? { ...one, since: 'resolved' } : one,
  );
}

/** What is known once a resolved break stands again, since a person opened it. */
export function afterReopened(known: readonly Known[], kind: string): readonly Known[] {
  return known.map((one) => (one.kind === kind ? { ...one, since: 'told' } : one));
}

/**
 * What is known after an answer: what people have resolved, and the rail's lookup says no more, is news when it is said again.
 * Without an answer it is asked for on; anything but an end is none that takes it back.
 */
export function knownAfter(
  { source, answer, tracked: { known } }: Pick<Question, 'source' | 'answer' | 'tracked'>,
  found: readonly Finding[],
): readonly Known[] {
  if (source !== 'poll' || answer.kind === 'unknown') return known;
  const isStillSaid = (one: Known) =>
    found.some(({ kind, about = [] }) => kind === one.kind && about.includes(one.about));
  return known
    .filter((one) => one.since === 'told' || !isEnd(answer.kind) || isStillSaid(one))
    .map((one) => (one.since === 'resolved' ? { ...one, since: 'asked' } : one));
}
