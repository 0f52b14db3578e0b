import { isEnd } from './claim.ts';
import type { Finding, Question } from './question.ts';
import type { Known, Tracked } from './tracked.ts';

/**
 * How many findings of a kind are remembered for one payment: more than callbacks can claim, and enough for a rail
 * whose answers keep changing.
 */
const KNOWN_MAX = 40;

const LOOKUP = 'lookup ';

/** The subject of a finding from the rail's lookup, which the rail may take back and report anew. */
export function lookupSays(what: string): string {
  return `${LOOKUP}${what}`;
}

/**
 * One finding of each kind that is news: its payment has no break of the kind, or one that has not reported this.
 *
 * It covers all findings of the kind, so that the next answer does not report them again.
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
  const reported = known.filter((one) => one.kind === kind);
  return reported.length < KNOWN_MAX && about.some((what) => reported.every((one) => one.about !== what));
}

/** What is known after findings were reported in open breaks. */
export function afterFindings(known: readonly Known[], findings: readonly Finding[]): readonly Known[] {
  return findings.reduce((before, { kind, about = [] }) => {
    const others = before.filter((one) => one.kind !== kind);
    const reported = before.filter((one) => one.kind === kind).map((one) => one.about);
    const all = [...new Set([...reported, ...about])].slice(0, KNOWN_MAX);
    return [...others, ...all.map((what): Known => ({ kind, about: what, since: 'reported' }))];
  }, known);
}

/** What is known after a person has resolved a break: the lookup's findings are asked for once more. */
export function afterResolved(known: readonly Known[], kind: string): readonly Known[] {
  return known.map((one) =>
    one.kind === kind && one.about.startsWith(LOOKUP) ? { ...one, since: 'resolved' } : one,
  );
}

/** What is known after a person has reopened a break. */
export function afterReopened(known: readonly Known[], kind: string): readonly Known[] {
  return known.map((one) => (one.kind === kind ? { ...one, since: 'reported' } : one));
}

/**
 * What is known after an answer. A finding that people have resolved, and that the rail's lookup no longer reports, is
 * news when it is reported again. Without an answer the question continues; only an end can take a finding back.
 */
export function knownAfter(
  { source, answer, tracked: { known } }: Pick<Question, 'source' | 'answer' | 'tracked'>,
  found: readonly Finding[],
): readonly Known[] {
  if (source !== 'poll' || answer.kind === 'unknown') return known;
  const isStillSaid = (one: Known) =>
    found.some(({ kind, about = [] }) => kind === one.kind && about.includes(one.about));
  return known
    .filter((one) => one.since === 'reported' || !isEnd(answer.kind) || isStillSaid(one))
    .map((one) => (one.since === 'resolved' ? { ...one, since: 'asked' } : one));
}
