import type { ParkedView, PauseView, RealignPlanView } from '@pesewa/contracts';

/** The operators' latest action on a parked message; empty if there was none. */
export function describeParked({ state, lastReplay, discard }: ParkedView): string {
  if (state === 'replayed') return `replayed by ${lastReplay?.by ?? '?'}`;
  if (discard?.status === 'approved')
    return `discarded by ${discard.requestedBy} and ${discard.decidedBy ?? '?'}`;
  if (discard?.status === 'proposed') return `${discard.requestedBy} proposes to discard it`;
  if (discard?.status === 'rejected' && (lastReplay?.at ?? '') < (discard.decidedAt ?? ''))
    return `${discard.decidedBy ?? '?'} rejected to discard it: ${discard.rejectedFor ?? 'without a reason'}`;
  return lastReplay ? `a replay by ${lastReplay.by} failed` : '';
}

/** What a realignment does, such as `120 the next message: 5 applied again, 0 gone`. */
export function describeRealignment(plan: RealignPlanView): string {
  return `${plan.next} the next message: ${plan.appliedAgain} applied again, ${plan.skipped} gone`;
}

/** What a pause is about, such as `at upstream`. */
export function describeScope({
  scope,
  name,
}: {
  readonly scope: PauseView['scope'];
  readonly name?: string;
}): string {
  if (scope === 'all') return 'of all merchants at all rails';
  return `${scope === 'rail' ? 'at' : 'of'} ${name}`;
}
