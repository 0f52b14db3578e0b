import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const line = commandLine();
await line.run('completion', 'bash');
const script = line.printed();

/** What bash offers for the last of the words. */
function offered(...words: readonly string[]): readonly string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const source = `${script}\nCOMP_WORDS=(${typed})\nCOMP_CWORD=${words.length - 1}\n_pesewa\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', source], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

it.each<[readonly string[], readonly string[]]>([
  [['pesewa', 'paym'], ['payments']],
  [
    ['pesewa', 'payments', ''],
    ['list', 'cancel', '--help'],
  ],
  [['pesewa', 'payments', 'list', 'pay'], ['payouts']],
  [['pesewa', 'payments', 'list', 'payouts', '--mer'], ['--merchant']],
  [['pesewa', 'reconcile', 'breaks', 'as'], ['assign']],
  [['pesewa', 'reconcile', 'breaks', 'nonsense', '--ver'], []],
])('after %j it offers %j', (words, offers) => {
  expect(offered(...words)).toEqual(offers);
});

it('is printed for zsh too', async () => {
  const zsh = commandLine();
  expect(await zsh.run('completion', 'zsh')).toBe(0);
  expect(zsh.printed()).toBe(`autoload -U +X bashcompinit && bashcompinit\n${script}`);
});
