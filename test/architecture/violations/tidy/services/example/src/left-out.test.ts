import { it } from 'vitest';

it.only('runs alone', () => {});
it.skip('never runs', () => {});
it.todo('does not exist');
