export const used = 'used';
export const neverUsed = 'never used';
