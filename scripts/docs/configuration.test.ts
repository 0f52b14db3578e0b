import { expect, it } from 'vitest';
import { commonSettingsOf, renderCommonSettings, renderConfiguration } from './configuration.ts';
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
    ].join('\n'),
  );
});

it('explains once what many services have, with who has it', () => {
  const port = { def: { type: 'default', innerType: text, defaultValue: '1' } };
  const services = ['a', 'b', 'c', 'd', 'e'];
  const all = new Map(
    services.map((name) => [name, name === 'e' ? { NEEDED: text } : { NEEDED: text, PORT: port }]),
  );
  const common = commonSettingsOf(all);
  expect(renderCommonSettings(common, services)).toMatch(
    /\| `NEEDED` \| \*\*required\*\* \| an address \|\n\n## All but e\n\n.+\n.+\n\| `PORT` \| `1` \| an address \|\n$/,
  );
  expect(renderConfiguration({ ...all.get('a'), OWN: port }, common)).toMatch(
    /^\| Variable .+\n.+\n\| `OWN` \| `1` \| an address \|\n\n\[2 more\]\(.+\) are shared\.\n$/,
  );
});

it('replaces what is between the markers and nothing else', () => {
  const document = 'before\n<!-- configuration:begin -->\nold\n<!-- configuration:end -->\nafter\n';
  const replaced = 'before\n<!-- configuration:begin -->\n\nnew\n\n<!-- configuration:end -->\nafter\n';
  expect(replaceBlock(document, 'configuration', 'new\n')).toBe(replaced);
  expect(replaceBlock(replaced, 'configuration', 'new\n')).toBe(replaced);
  expect(() => replaceBlock('no markers', 'configuration', 'new\n')).toThrow('lacks the lines');
});
