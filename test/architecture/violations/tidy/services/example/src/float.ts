export const amount = (text: string): string => Number.parseFloat(text).toFixed(2);
