import { expect, it } from 'vitest';
import { renderConfiguration } from './configuration.ts';
import { replaceBlock } from './markdown.ts';

const text = { def: { type: 'string' }, description: 'an address' };

it('takes the meaning and the default from wherever they were given', () => {
  const settings = {
    OPEN: { def: { type: 'default', innerType: text, defaultValue: ['a', 'b'] } },
    FREE: { def: { type: 'optional', innerType: text }, description: 'only | for tests' },
    NEEDED: { def: { type: 'pipe', in: text } },
  };
  expect(renderConfiguration(settings)).toBe(
    [
      '| Variable | Default | Meaning |',
      '| --- | --- | --- |',
      '| `NEEDED` | **required** | an address |',
      '| `OPEN` | `a,b` | an address |',
      '| `FREE` | none | only \\| for tests |',
      '',
      'Each may be given as a file: the variable with `_FILE` holds its path ([connections](../../docs/connections.md)).',
      '',
    ].join('\n'),
  );
});

it('replaces what is between the markers and nothing else', () => {
  const document = 'before\n<!-- configuration:begin -->\nold\n<!-- configuration:end -->\nafter\n';
  const replaced = 'before\n<!-- configuration:begin -->\n\nnew\n\n<!-- configuration:end -->\nafter\n';
  expect(replaceBlock(document, 'configuration', 'new\n')).toBe(replaced);
  expect(replaceBlock(replaced, 'configuration', 'new\n')).toBe(replaced);
  expect(replaceBlock('no markers', 'configuration', 'new\n')).toBeUndefined();
});
