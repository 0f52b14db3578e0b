/** The collection in which a service notes how far its records were erased and archived. */
export const ERASURES = 'erasures';

/**
 * The id of the note about archived payments, by the name of their collection. Its `until` is the archive's horizon: payments
 * whose reference of ours sorts before it may be archived, and no others are.
 */
export function archiveNoteOf(collection: string): string {
  return `${collection}/archive`;
}

/** How an archived payment ended, by the letter that its record keeps in `end`. */
export const archivedEnds = { C: 'COMPLETED', F: 'FAILED', R: 'REVERSED' } as const;

/** How an archived payment ended. */
export type ArchivedEnd = (typeof archivedEnds)[keyof typeof archivedEnds];
