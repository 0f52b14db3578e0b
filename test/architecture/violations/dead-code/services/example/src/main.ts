import { used } from './parts.ts';

process.stdout.write(used);
