/** The collection in which a service stores how far its records were erased and archived. */
export const ERASURES = 'erasures';

/**
 * The id of the note about archived payments, by the name of their collection. Its `until` is the archive's horizon:
 * only payments whose transactionReference sorts before it may be archived.
 */
export function archiveNoteOf(collection: string): string {
  return `${collection}/archive`;
}

/** The ends of archived payments, by the letter that their records keep in `end`. */
export const archivedEnds = { C: 'COMPLETED', F: 'FAILED', R: 'REVERSED' } as const;

/** How an archived payment ended. */
export type ArchivedEnd = (typeof archivedEnds)[keyof typeof archivedEnds];
