export const read = async (value: number): Promise<void> => {
  await value;
};
