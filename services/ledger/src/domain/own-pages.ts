import { postingId } from './instructions.ts';
import { type AnsweredInstruction, type ParsedEvent, type PublishedPage, topicOf } from './own-events.ts';

/** A page to write again, with its postings as they were published. */
export interface OwnPage {
  readonly chain: string;
  /** Undefined if the page itself was never published. */
  readonly published: PublishedPage | undefined;
  readonly atMs: number;
  readonly postings: readonly AnsweredInstruction[];
  /** Names of postings that are on the page but not in the topic. */
  readonly missing: readonly string[];
}

/** Assembles the published events of one partition into pages, in the order in which they were published. */
export interface OwnPages {
  /** Adds an event; gives the page that it completes, if any. */
  readonly add: (news: Extract<ParsedEvent, { readonly kind: 'posting' | 'page' }>) => OwnPage | undefined;
  /** Postings that belong to no published page: they were published again, or are the last before the topic ends. */
  readonly rest: () => readonly OwnPage[];
  readonly restSize: () => number;
  readonly forget: (page: OwnPage) => void;
}

/** Builds {@link OwnPages} for one partition of the topic. */
export function createOwnPages(partition: number): OwnPages {
  const waiting = new Map<string, AnsweredInstruction>();
  return {
    add: (news) => {
      if (news.kind === 'posting') {
        const id = postingId(news.instruction);
        // A repetition is ignored.
        if (!waiting.has(id)) waiting.set(id, news);
        return undefined;
      }
      const { chain, atMs, postings } = news.page;
      const missing = postings.filter((id) => !waiting.has(id));
      const found = postings.flatMap((id) => waiting.get(id) ?? []);
      for (const id of postings) waiting.delete(id);
      return { chain, published: news.page, atMs, postings: found, missing };
    },
    rest: () => {
      const atOf = ({ event }: AnsweredInstruction) => Number(event.payload.occurredAt);
      const pages = Map.groupBy(
        waiting.values(),
        (one) => `${topicOf(one.instruction.kind)}/${partition} ${atOf(one)}`,
      );
      return [...pages].map(([place, postings]) => ({
        chain: place.slice(0, place.indexOf(' ')),
        published: undefined,
        atMs: Number(place.slice(place.indexOf(' ') + 1)),
        postings,
        missing: [],
      }));
    },
    restSize: () => waiting.size,
    forget: ({ postings }) => {
      for (const { instruction } of postings) waiting.delete(postingId(instruction));
    },
  };
}
