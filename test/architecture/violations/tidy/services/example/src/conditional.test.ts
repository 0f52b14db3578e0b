import { it } from 'vitest';

const isRoot = process.getuid?.() === 0;

// Root may write anywhere, so there is nothing to refuse.
it.skipIf(isRoot)('is excused', () => {});

it.skipIf(isRoot)('is not excused', () => {});
