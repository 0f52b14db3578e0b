export const draw = (): number => Math.random();
