// Citations in documents, comments and titles of tests: each must lead to something that this repository has.

/** What citations may lead to. */
export interface Citable {
  /** The numbers of the headings of docs/contract.md. */
  readonly sections: ReadonlySet<string>;
  /** The letters and numbers of docs/invariants.md. */
  readonly invariants: ReadonlySet<string>;
  /** The numbers of the decisions in docs/adr. */
  readonly decisions: ReadonlySet<number>;
}

/** A citation that leads nowhere, with its place in the text that was searched. */
export interface DeadCitation {
  readonly at: number;
  readonly problem: string;
}

/** A piece of a source file that people read. */
interface Piece {
  readonly at: number;
  readonly text: string;
  /** Documents, comments and titles of tests name invariants by letter and number alone; other texts have such words of their own. */
  readonly namesInvariants: boolean;
}

const NUMBER = String.raw`\d+(?:\.\d+)?`;
/** Between the words of a citation: a space, or the end of a line with what begins the next line of a comment. */
const GAP = String.raw`(?: |\s*?\n[ \t]*(?:\*|//)?[ \t]*)`;
const SECTIONS = new RegExp(
  String.raw`\bcontract${GAP}(${NUMBER}(?:(?:, | and | to |–)${NUMBER}(?![\w.]*\w))*)`,
  'g',
);
const NAMED = String.raw`\binvariant${GAP}([A-Z]\d+)\b`;
const NAMED_INVARIANT = new RegExp(NAMED, 'g');
const INVARIANT = new RegExp(String.raw`${NAMED}|(?<![\w%.'"/-])([PLXRWIET]\d{1,2})(?![\w%'"/-]|\.\d)`, 'g');
const DECISION = new RegExp(String.raw`\bADR${GAP}(\d+)\b`, 'g');
const ELSEWHERE = /\b(?:the )?design (?:§ ?)?\d+(?:\.\d+)*|\bresearch\/[\w-]+/g;
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const TITLE = /(?:\b(?:describe|it|test)(?:\.\w+)*|\))\(\s*$/;
const TITLE_CONTEXT = 60;

/** The comments and texts of a TypeScript file, found without parsing it. */
function readPieces(source: string): readonly Piece[] {
  return [...source.matchAll(TOKENS)].map(({ 0: text, index: at }) => {
    if (text.startsWith('/')) return { at, text, namesInvariants: true };
    const before = source.slice(Math.max(0, at - TITLE_CONTEXT), at);
    return { at: at + 1, text: text.slice(1, -1), namesInvariants: TITLE.test(before) };
  });
}

function problemsIn({ at, text, namesInvariants }: Piece, citable: Citable): readonly DeadCitation[] {
  const found: DeadCitation[] = [];
  const report = (index: number, problem: string) => found.push({ at: at + index, problem });
  for (const { index, 1: numbers = '' } of text.matchAll(SECTIONS))
    for (const number of numbers.match(new RegExp(NUMBER, 'g')) ?? [])
      if (!citable.sections.has(number)) report(index, `docs/contract.md has no section ${number}`);
  for (const { index, 1: number } of text.matchAll(DECISION))
    if (!citable.decisions.has(Number(number))) report(index, `docs/adr has no ADR ${number}`);
  for (const { index, 0: citation } of text.matchAll(ELSEWHERE))
    report(index, `${citation} is no document of this repository`);
  for (const { index, 1: named, 2: name = named ?? '' } of text.matchAll(
    namesInvariants ? INVARIANT : NAMED_INVARIANT,
  ))
    if (!citable.invariants.has(name)) report(index, `docs/invariants.md has no ${name}`);
  return found;
}

/** The dead citations of a file: of a document all of it counts, of a source its comments and texts. */
export function deadCitations(
  file: string,
  source: string,
  citable: Citable,
): readonly { readonly line: number; readonly problem: string }[] {
  const pieces = file.endsWith('.ts') ? readPieces(source) : [{ at: 0, text: source, namesInvariants: true }];
  return pieces
    .flatMap((piece) => problemsIn(piece, citable))
    .map(({ at, problem }) => ({ line: source.slice(0, at).split('\n').length, problem }));
}

/** Reads what may be cited from the texts of both documents and the names of the decisions' files. */
export function readCitable(contract: string, invariants: string, decisions: readonly string[]): Citable {
  const all = (text: string, pattern: RegExp) =>
    new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''));
  return {
    sections: all(contract, /^#{2,3} (\d+(?:\.\d+)?)\.? /gm),
    invariants: all(invariants, /^\| ([A-Z]\d+) \|/gm),
    decisions: new Set(decisions.flatMap((name) => (/^\d{4}-/.test(name) ? [Number(name.slice(0, 4))] : []))),
  };
}
