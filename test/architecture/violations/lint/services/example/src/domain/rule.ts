export const rule = (currency: string): boolean => currency !== '';
