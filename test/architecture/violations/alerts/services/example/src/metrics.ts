// Stands for a file that imports 'prom-client'.
export const metrics = [{ name: 'open_breaks' }, { name: 'call_seconds' }];
