import { unreachable } from '@pesewa/kernel';
import type { CollectionHappening, CollectionState } from './state.ts';

/** The description of a happening for operators; `before` is the state before it. */
export function wordsOf(
  happening: CollectionHappening,
  { completionAttempts }: Pick<CollectionState, 'completionAttempts'>,
): string {
  switch (happening.kind) {
    case 'requeued':
      return happening.unclear ? 'not found at the rail, to be sent again' : 'not sent, to be sent again';
    case 'completionRequested':
      return `completion ${completionAttempts + 1} requested`;
    case 'completionAccepted':
    case 'completionRefused':
    case 'completionReturned':
      return `completion ${completionAttempts} ${completionWords[happening.kind]}`;
    case 'initiationAccepted':
    case 'initiationUnclear':
    case 'completionClosed':
    case 'completed':
    case 'failed':
      return words[happening.kind];
    default:
      return unreachable(happening);
  }
}

const words = {
  initiationAccepted: 'accepted by the rail',
  initiationUnclear: 'no clear answer from the rail',
  completionClosed: 'no further completion is passed on',
  completed: 'completed',
  failed: 'failed',
} as const;

const completionWords = {
  completionAccepted: 'accepted by the rail',
  completionRefused: 'refused by the rail',
  completionReturned: 'not sent',
} as const;
