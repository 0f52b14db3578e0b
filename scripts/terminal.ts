/** Where lines are written, such as stdout. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string) => unknown;
}

/** Lines that stay, and on a terminal below them one that is replaced in place. */
export interface Terminal {
  readonly say: (line: string) => void;
  /** Shows a text in place of the former one, an empty one removes it; absent where nobody watches. */
  readonly progress?: (text: string) => void;
}

const COLUMNS_DEFAULT = 80;

/** Builds a {@link Terminal}. */
export function createTerminal(output: Output): Terminal {
  let shown = '';
  const replace = (text: string) => {
    if (shown !== '') output.write('\r\u001b[K');
    shown = text;
    output.write(text);
  };
  const say = (line: string) => {
    replace('');
    output.write(`${line}\n`);
  };
  if (!output.isTTY) return { say };
  // A text that wraps could not be replaced.
  return { say, progress: (text) => replace(text.slice(0, (output.columns ?? COLUMNS_DEFAULT) - 1)) };
}
