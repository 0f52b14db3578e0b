export const parseAmount = (text: string): string => JSON.parse(text).amount;
