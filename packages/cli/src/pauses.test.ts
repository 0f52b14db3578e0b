import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const pause = {
  scope: 'rail',
  name: 'upstream',
  reason: 'it pays twice',
  pausedBy: 'ama',
  pausedAt: '2026-01-02T03:04:05.000Z',
  resumeProposedBy: null,
};
const answer = (body: object, status = 200) => ({ status, body });

it('pauses both directions, one gateway after the other, with the reason', async () => {
  const line = commandLine([answer(pause), answer(pause)]);
  expect(await line.run('pause', 'both', '--rail', 'upstream', '--reason', 'it pays twice')).toBe(0);
  const body = { scope: 'rail', name: 'upstream', reason: 'it pays twice' };
  expect(line.requests).toMatchObject([
    { url: 'http://payouts/pauses', body },
    { url: 'http://collections/pauses', body },
  ]);
  expect(line.printed()).toBe(
    'payouts at upstream are paused until an operator and an approver resume them\n' +
      'collections at upstream are paused until an operator and an approver resume them\n',
  );
});

it('sends nothing with --dry-run', async () => {
  const line = commandLine([]);
  expect(await line.run('pause', 'payouts', '--all', '--reason', 'drill', '--dry-run')).toBe(0);
  expect(line.requests).toEqual([]);
  expect(line.printed()).toBe('payouts of all merchants at all rails would be paused\n');
});

const list = (items: readonly object[]) => answer({ items, next: null });

it.each([
  [
    answer({ ...pause, resumeProposedBy: 'ama' }, 202),
    [],
    'stay paused until an approver resumes them with --approve ama',
  ],
  [answer({ resumed: true }), ['--approve', 'ama'], 'go on'],
])(
  'shows the pause, sends when it was set, and says whether they go on: %j',
  async (given, approval, said) => {
    const [, approves] = approval;
    const other = { ...pause, scope: 'rail', name: 'demo' };
    const line = commandLine([list([other, { ...pause, scope: 'merchant', name: 'demo' }]), given]);
    expect(await line.run('resume', 'payouts', '--merchant', 'demo', ...approval)).toBe(0);
    const subject = { scope: 'merchant', name: 'demo', pausedAt: pause.pausedAt };
    const body = { ...subject, ...(approves !== undefined && { approves }) };
    expect(line.requests).toMatchObject([
      'http://payouts/pauses',
      { url: 'http://payouts/pauses/resume', body },
    ]);
    expect(line.printed()).toBe(
      `payouts of demo: paused by ama at 2026-01-02T03:04:05.000Z: it pays twice\npayouts of demo ${said}\n`,
    );
  },
);

it('resumes nothing that is not paused', async () => {
  const line = commandLine([list([pause])]);
  expect(await line.run('resume', 'payouts', '--all')).toBe(1);
  expect(line.requests).toHaveLength(1);
  expect(line.complained()).toBe('pesewa: payouts of all merchants at all rails are not paused\n');
});

it('resumes neither of both if one of them is not paused', async () => {
  const line = commandLine((url) => list(url.startsWith('http://payouts') ? [pause] : []));
  expect(await line.run('resume', 'both', '--rail', 'upstream', '--approve', 'ama')).toBe(1);
  expect(line.requests).toEqual(['http://payouts/pauses', 'http://collections/pauses']);
  expect(line.complained()).toBe('pesewa: collections at upstream are not paused\n');
});

it('asks what is meant, and pauses nothing', async () => {
  const line = commandLine([]);
  expect(await line.run('pause', 'payouts', '--reason', 'why')).toBe(1);
  expect([line.requests, line.complained()]).toEqual([
    [],
    'pesewa: name what is meant: --all, --rail or --merchant\n',
  ]);
});

it('lists what is paused at both gateways', async () => {
  const line = commandLine([list([pause]), list([])]);
  expect(await line.run('pauses')).toBe(0);
  for (const shown of ['payouts', 'rail upstream', 'ama', 'it pays twice'])
    expect(line.printed()).toContain(shown);
});
