import { readFileSync } from 'node:fs';
import { save } from '../store.ts';

export const load = (file: string): string => {
  save();
  return readFileSync(file, 'utf8');
};
