const save = async (): Promise<void> => {};

export const run = (): void => {
  save();
};
