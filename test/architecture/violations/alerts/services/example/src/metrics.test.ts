// Stands for a test that imports 'prom-client': what it registers, no service does.
export const metrics = [{ name: 'never_registered' }];
