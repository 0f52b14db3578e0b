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
    'stay paused until an approver resumes them with pesewa resume payouts --rail upstream --approve ama --seen 2026-01-02T03:04:05.000Z',
  ],
  [answer({ resumed: true }), ['--approve', 'ama', '--seen', pause.pausedAt], 'go on'],
])(
  'shows the pause, sends when it was set, and says whether they go on: %j',
  async (given, approval, said) => {
    const [, approves] = approval;
    const proposed = approves === undefined ? pause : { ...pause, resumeProposedBy: approves };
    const other = { ...pause, scope: 'rail', name: 'demo' };
    const line = commandLine([list([other, { ...proposed, scope: 'merchant', name: 'demo' }]), given]);
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

const proposed = { ...pause, resumeProposedBy: 'ama' };
const later = { ...proposed, pausedAt: '2026-01-02T04:00:00.000Z', reason: 'it pays thrice' };

it.each<[string, readonly object[], readonly string[], string]>([
  ['nothing is named', [proposed], [], '--seen: nothing was approved'],
  ['it was set anew since', [later], ['--seen', pause.pausedAt], '--seen: nothing was approved'],
  ['another proposed', [{ ...proposed, resumeProposedBy: 'esi' }], ['--seen', pause.pausedAt], '--seen: '],
  ['nobody proposed', [pause], ['--seen', pause.pausedAt], '--approve: nobody has proposed to resume'],
])('approves no pause that was not seen: %s', async (_why, items, seen, problem) => {
  const line = commandLine([list(items)]);
  expect(await line.run('resume', 'payouts', '--rail', 'upstream', '--approve', 'ama', ...seen)).toBe(1);
  expect(line.requests).toEqual(['http://payouts/pauses']);
  expect(line.complained()).toContain(problem);
});

it('shows what would be resumed with the command that does', async () => {
  for (const call of [['pauses'], ['resume', 'payouts', '--rail', 'upstream', '--approve', 'ama']]) {
    const line = commandLine((url) => list(url.startsWith('http://payouts') ? [later] : []));
    await line.run(...call);
    expect(line.printed()).toContain('it pays thrice');
    expect(line.printed()).toContain(
      `ama proposed to resume them: an approver does with pesewa resume payouts --rail upstream --approve ama --seen ${later.pausedAt}\n`,
    );
  }
});

it('resumes both as they were seen, each by its time', async () => {
  const call = ['resume', 'both', '--rail', 'upstream', '--approve', 'ama', '--seen', later.pausedAt];
  const answers = (url: string) => {
    if (url.endsWith('/resume')) return answer({ resumed: true });
    return list(url.startsWith('http://payouts') ? [proposed] : [later]);
  };
  const half = commandLine(answers);
  expect(await half.run(...call)).toBe(1);
  expect(half.requests).toEqual(['http://payouts/pauses', 'http://collections/pauses']);
  const whole = commandLine(answers);
  expect(await whole.run(...call, '--seen', proposed.pausedAt)).toBe(0);
  expect(whole.requests.slice(2)).toMatchObject([
    { url: 'http://payouts/pauses/resume', body: { pausedAt: proposed.pausedAt } },
    { url: 'http://collections/pauses/resume', body: { pausedAt: later.pausedAt } },
  ]);
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
