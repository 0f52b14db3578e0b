export const size = (value: any): number => (value === undefined ? 0 : 1);
