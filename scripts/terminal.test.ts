import { expect, it } from 'vitest';
import { createTerminal } from './terminal.ts';

function open(isTTY: boolean, columns?: number) {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  return { written, terminal: createTerminal({ isTTY, write, ...(columns !== undefined && { columns }) }) };
}

it('progress takes one line of a terminal, which every line that stays moves below itself', () => {
  const { written, terminal } = open(true, 10);
  terminal.progress?.('1 MB');
  terminal.progress?.('2 MB and much more');
  terminal.say('fetched');
  terminal.progress?.('');
  expect(written.join('')).toBe('1 MB\r\u001b[K2 MB and \r\u001b[Kfetched\n');
});

it('where no terminal is, no progress is shown', () => {
  const { written, terminal } = open(false);
  terminal.say('fetched');
  expect([terminal.progress, written.join('')]).toEqual([undefined, 'fetched\n']);
});
