export const inside = 2;
export const two = 2;
