// TODO: finish this.
export const unfinished = true;
