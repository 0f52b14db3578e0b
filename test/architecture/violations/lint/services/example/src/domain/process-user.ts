export const pid = (): number => process.pid;
