import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { repositoryRoot } from '../command.ts';
import { renderTable } from './markdown.ts';

/** The fields that are read of a kind of break: its texts for people, and what they may do. */
export interface BreakKindTerms {
  readonly opens: string;
  readonly closes: string | null;
  readonly manualResolution: string;
}

/** The reconciler's kinds of breaks, loaded at run time because no package may import a service. */
export const loadBreakKinds = async (): Promise<Readonly<Record<string, BreakKindTerms>>> => {
  const file = path.join(repositoryRoot, 'services', 'reconciler', 'src', 'domain', 'break-kinds.ts');
  // The module's own type guarantees that every kind has these texts.
  const loaded = (await import(pathToFileURL(file).href)) as {
    readonly breakKinds: Readonly<Record<string, BreakKindTerms>>;
  };
  return loaded.breakKinds;
};

/** The table of all kinds of breaks. */
export const renderBreakKinds = (kinds: Readonly<Record<string, BreakKindTerms>>): string =>
  renderTable(
    ['kind', 'opens when', 'closes by itself when', 'by hand'],
    Object.entries(kinds).map(([kind, { opens, closes, manualResolution }]) => [
      `\`${kind}\``,
      opens,
      closes ?? '–',
      manualResolution,
    ]),
  );
