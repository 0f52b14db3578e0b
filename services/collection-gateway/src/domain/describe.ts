import { unreachable } from '@pesewa/kernel';
import type { CollectionDomainEvent, CollectionState } from './state.ts';

/** The description of a domain event for operators; `before` is the state before it. */
export function describe(
  domainEvent: CollectionDomainEvent,
  { completionAttempts }: Pick<CollectionState, 'completionAttempts'>,
): string {
  switch (domainEvent.kind) {
    case 'requeued':
      return domainEvent.unclear ? 'not found at the rail, to be sent again' : 'not sent, to be sent again';
    case 'completionRequested':
      return `completion ${completionAttempts + 1} requested`;
    case 'completionAcknowledged':
    case 'completionRefused':
    case 'completionReturned':
      return `completion ${completionAttempts} ${completionWords[domainEvent.kind]}`;
    case 'initiationAcknowledged':
    case 'initiationUnclear':
    case 'completionClosed':
    case 'completed':
    case 'failed':
      return words[domainEvent.kind];
    default:
      return unreachable(domainEvent);
  }
}

const words = {
  initiationAcknowledged: 'acknowledged by the rail',
  initiationUnclear: 'no clear answer from the rail',
  completionClosed: 'no further completion is passed on',
  completed: 'completed',
  failed: 'failed',
} as const;

const completionWords = {
  completionAcknowledged: 'acknowledged by the rail',
  completionRefused: 'refused by the rail',
  completionReturned: 'not sent',
} as const;
