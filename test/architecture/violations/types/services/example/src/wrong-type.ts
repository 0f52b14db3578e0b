export const amount: bigint = 1;
