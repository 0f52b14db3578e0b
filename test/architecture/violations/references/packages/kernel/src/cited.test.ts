it('holds (L1), and contract 1.1', () => run('R7'));
it('does not hold (L2)', () => run('R7'));
describe.concurrent('contract 3: nothing', () => run('R7'));
it.each([['R7']])('%s (L1 to E1)', () => run('R7'));
