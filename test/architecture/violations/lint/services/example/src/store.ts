export const save = (): void => {};
