// Nothing to report here: own files, the kernel, and Date as a type are what a domain may use.
import { rule } from './rule.ts';

export type { Currency } from '@pesewa/kernel';

export const isDue = (due: Date, now: Date): boolean => rule('GHS') && due.getTime() <= now.getTime();
