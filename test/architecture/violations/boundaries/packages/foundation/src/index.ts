export const foundation = 1;
