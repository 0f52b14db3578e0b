import { expect, it } from 'vitest';

it.only('runs alone', () => expect(1).toBe(1));
it.skip('never runs', () => expect(1).toBe(1));
it.todo('does not exist');
