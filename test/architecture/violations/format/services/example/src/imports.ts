import path from 'node:path';
import fs from 'node:fs';

export const read = (name: string): string => fs.readFileSync(path.join('.', name), 'utf8');
