export const first = (items: readonly string[]): string => items[0]!;
