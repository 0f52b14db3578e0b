import { expect, it } from 'vitest';
import { z } from 'zod';
import { commonSettingsOf, renderCommonSettings, renderConfiguration } from './configuration.ts';
import { replaceBlock } from './markdown.ts';
import { settingsOf } from './settings.ts';

const text = z.string().describe('an address');
const port = text.default('1');

it('takes the meaning and the default from wherever they were given', () => {
  const schema = z
    .object({
      OPEN: z
        .string()
        .transform((list) => list.split(','))
        .default(['a', 'b'])
        .describe('addresses'),
      FREE: text.optional().describe('only | for tests'),
      NEEDED: text.transform((address) => address.length).pipe(z.number()),
    })
    .superRefine(() => undefined);
  expect(renderConfiguration(settingsOf(schema))).toBe(
    [
      '| Variable | Default | Meaning |',
      '| --- | --- | --- |',
      '| `NEEDED` | **required** | an address |',
      '| `OPEN` | `a,b` | addresses |',
      '| `FREE` | none | only \\| for tests |',
      '',
    ].join('\n'),
  );
});

it('knows a secret, also as an optional one', () => {
  const secret = text.meta({ isSecret: true });
  const { PASSWORD, TOKEN, HOST } = settingsOf(
    z.object({ PASSWORD: secret, TOKEN: secret.optional(), HOST: text }),
  );
  expect([PASSWORD?.isSecret, TOKEN?.isSecret, HOST?.isSecret]).toEqual([true, true, false]);
});

it('explains once what many services have, with who has it', () => {
  const services = ['a', 'b', 'c', 'd', 'e'];
  const all = new Map(
    services.map((name) => [
      name,
      settingsOf(z.object({ NEEDED: text, ...(name !== 'e' && { PORT: port }) })),
    ]),
  );
  const common = commonSettingsOf(all);
  expect(renderCommonSettings(common, services)).toMatch(
    /\| `NEEDED` \| \*\*required\*\* \| an address \|\n\n## All but e\n\n.+\n.+\n\| `PORT` \| `1` \| an address \|\n$/,
  );
  expect(renderConfiguration({ ...all.get('a'), ...settingsOf(z.object({ OWN: port })) }, common)).toMatch(
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
