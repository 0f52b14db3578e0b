/** The rules that the books must always keep (docs/adr/0016-pages-and-the-audit.md). */
export const invariants = {
  L1: 'an entry moves one amount above zero between two accounts that its kind may name, and a posting those of one wallet and one float',
  L2: 'the sum over all accounts of a currency is zero',
  L3: 'a stored balance is the sum of its entries, and the entries of a wallet are numbered without a gap',
  L4: 'available and held are never below zero, after any entry',
  L5: 'a payout has one hold, and its hold one end; held is the sum of the open holds',
  L6: 'every posting stands on exactly one page, the hashes of the pages verify, and their times never go back',
  L7: 'a reference has at most one posting of a kind, which has the entries of that kind: each once, and a rail cost behind what caused it',
  L8: 'money is stored as 64-bit whole numbers of a known currency',
  L9: 'an entry never mixes currencies',
  L10: 'amount and fee of a payout are the same in its record and in its entries',
  L11: 'a collection is credited once if it completed, with what was received less the fee, and never else',
  L12: 'an order moves what one operator proposed and another approved; an approved one is applied or refused',
} as const;

/** The name of a rule. */
export type Invariant = keyof typeof invariants;

/** A broken rule, and where it is broken. */
export interface Violation {
  readonly invariant: Invariant;
  /** The page, entry, wallet, account or payment where it shows. */
  readonly subject: string;
  /** What was found and what was expected; no personal data. */
  readonly message: string;
}

/** Collects violations. */
export type Findings = ReturnType<typeof createFindings>;

const KEPT_MAX = 100;

/** Builds {@link Findings} that keep the first hundred and count the rest. */
export function createFindings() {
  const kept = new Map<string, Violation>();
  const counts: Partial<Record<Invariant, number>> = {};
  return {
    /** Records a violation; of one rule and one subject only the first. */
    report: (invariant: Invariant, subject: string, message: string) => {
      const key = `${invariant} ${subject}`;
      if (kept.has(key)) return;
      counts[invariant] = (counts[invariant] ?? 0) + 1;
      if (kept.size < KEPT_MAX) kept.set(key, { invariant, subject, message });
    },
    /** The first violations, in the order they were found. */
    violations: (): readonly Violation[] => [...kept.values()],
    /** How many violations of each rule were found, including those that were not kept. */
    counts: (): Readonly<Partial<Record<Invariant, number>>> => ({ ...counts }),
  };
}
