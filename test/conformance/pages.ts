import { matching } from './conformance.ts';

/** A fenced block of a page. */
interface PageBlock {
  readonly language: string;
  readonly text: string;
}

/** A command of a page that calls the API, and the output that the page shows for it. */
export interface PageCommand {
  readonly script: string;
  /** What is compared: the text, the JSON, or the body of the only webhook that the simulator shows. */
  readonly prints: 'text' | 'json' | 'webhook';
  /** Whether the command may be run twice; a payin is accepted only once. */
  readonly isRepeatable: boolean;
  readonly expected: unknown;
}

/** The commands of a page in order, and the settings that they share. */
export interface Page {
  /** Shell assignments and exports, evaluated once for all commands. */
  readonly settings: string;
  readonly commands: readonly PageCommand[];
}

/** The fenced blocks of a page. */
function blocksOf(markdown: string): readonly PageBlock[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** Reads a page as a reader follows it: settings once, then each command with the output that follows it. */
export function readPage(markdown: string): Page {
  const blocks = blocksOf(markdown);
  const isSettings = (text: string) => /^(?:[A-Z]+=|eval )/.test(text);
  const shell = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  return {
    settings: shell.filter(isSettings).join(''),
    commands: blocks.flatMap(({ language, text }, index) => {
      if (language !== 'sh' || isSettings(text) || !/^(?:curl|node|printf) /m.test(text)) return [];
      const isRepeatable = !/\/(?:complete-)?payin"/.test(text);
      return [{ script: text, isRepeatable, ...printedBy(text, blocks[index + 1]) }];
    }),
  };
}

/** The output shown after a command; if there is none, any success is accepted. */
function printedBy(
  script: string,
  following: PageBlock | undefined,
): Pick<PageCommand, 'prints' | 'expected'> {
  const shown = following?.text.trim() ?? '';
  switch (following?.language ?? 'nothing') {
    case 'json':
      return {
        prints: script.includes('/control/received') ? 'webhook' : 'json',
        expected: expectation(JSON.parse(shown)),
      };
    case 'text':
      return { prints: 'text', expected: shown };
    case 'html':
      return { prints: 'text', expected: matching(new RegExp(escaped(shown))) };
    default:
      return {
        prints: 'text',
        expected: matching(/"isSuccessful":true|"responseCode":"09"|"webhooks":\[\{/),
      };
  }
}

/** The output that a page shows, as an expectation; `…` matches any text. */
function expectation(shown: unknown): unknown {
  if (typeof shown === 'string') {
    return shown.includes('…')
      ? matching(new RegExp(`^${shown.split('…').map(escaped).join('.*')}$`))
      : shown;
  }
  if (Array.isArray(shown)) return shown.map(expectation);
  if (typeof shown !== 'object' || shown === null) return shown;
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, expectation(value)]));
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
