import { setTimeout as delay } from 'node:timers/promises';

await delay(1000);
await new Promise((resolve) => setTimeout(resolve, 1000));
