import type { StatementMapping } from '@pesewa/contracts';
import type { StatementLine } from './statement-records.ts';

/** Options that a mapping lacks. */
export type Proposal = Partial<StatementMapping>;

const WORDS_MAX = 10;

/** Collects the options by which unreadable lines could be read, as far as they do not contradict each other. */
export function createProposal({ header, setAside, skipLines }: StatementMapping) {
  let found: Proposal = {};
  const words = new Set<string>();
  /** The lines at the beginning of a file without a heading, none of which can be read. */
  let unreadUntil = 0;
  let isRead = false;
  return {
    observe: ({ line, read }: StatementLine): void => {
      if (!('unreadable' in read)) {
        isRead = true;
        return;
      }
      if (!isRead) unreadUntil = line;
      const { setAside: [word] = [], ...others } = read.options ?? {};
      if (word !== undefined && words.size < WORDS_MAX) words.add(word);
      // The first that was found stays, because the same file is written in one way.
      found = { ...others, ...found };
    },
    /** Null if there is none. */
    made: (): Proposal | null => {
      const isIntroduced = !header && isRead && unreadUntil > 0 && skipLines === undefined;
      const all: Proposal = {
        ...found,
        ...(isIntroduced && { skipLines: unreadUntil }),
        ...(words.size > 0 && { setAside: [...(setAside ?? []), ...words] }),
      };
      return Object.keys(all).length > 0 ? all : null;
    },
  };
}
