/** Overrides of the magic numbers: makes some four digits behave like others. */
export type Scenarios = ReturnType<typeof createScenarios>;

/** Builds the overrides of one simulator, none of them set. */
export function createScenarios() {
  const overrides = new Map<string, string>();
  return {
    /** The digits whose script applies to the given ones. */
    resolve: (digits: string) => overrides.get(digits) ?? digits,
    /** Makes digits behave like others; undefined removes the override. */
    change: (digits: string, like: string | undefined) => {
      if (like === undefined) overrides.delete(digits);
      else overrides.set(digits, like);
    },
    list: () => [...overrides].map(([digits, like]) => ({ digits, like })),
  };
}
