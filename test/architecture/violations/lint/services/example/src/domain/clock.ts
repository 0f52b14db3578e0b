export const isDue = (atMs: number): boolean => Date.now() >= atMs;
