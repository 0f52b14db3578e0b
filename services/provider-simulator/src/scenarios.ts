/** Overrides of the magic numbers: makes some four digits behave like others. */
export interface Scenarios {
  /** The digits whose script applies to the given ones. */
  readonly resolve: (digits: string) => string;
  /** Makes digits behave like others; undefined removes the override. */
  readonly change: (digits: string, like: string | undefined) => void;
  readonly list: () => readonly { readonly digits: string; readonly like: string }[];
}

/** Builds the overrides of one simulator, none of them set. */
export function createScenarios(): Scenarios {
  const overrides = new Map<string, string>();
  return {
    resolve: (digits) => overrides.get(digits) ?? digits,
    change: (digits, like) => {
      if (like === undefined) overrides.delete(digits);
      else overrides.set(digits, like);
    },
    list: () => [...overrides].map(([digits, like]) => ({ digits, like })),
  };
}
