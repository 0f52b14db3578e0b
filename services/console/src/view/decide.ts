import { html } from 'hono/html';
import { only, type Visit } from '../visits.ts';
import { type Field, form } from './form.ts';
import type { Html } from './html.ts';

/** The field of a reason that stays in the records. */
export const reasonField = (value: string | undefined): Field => ({
  name: 'reason',
  label: 'Reason',
  value,
  hint: 'One line, without names or numbers of people',
  isRequired: true,
  maxLength: 200,
});

/** What decides a proposal: another operator approves it, and anybody ends it; the form's `what` says which. */
export function decide(
  visit: Visit,
  given: {
    readonly action: string;
    readonly requestedBy: string;
    /** What approving does, in the words of a button; absent while nobody can know what it does. */
    readonly approve: string | undefined;
    /** What is so if it is rejected. */
    readonly otherwise: string;
    /** Why to end it, as far as it is written. */
    readonly reason: string | undefined;
    /** What tells the proposal that was seen from any other; it goes with either decision. */
    readonly hidden?: Readonly<Record<string, string>>;
    readonly problem?: string | undefined;
  },
): Html {
  const { action, requestedBy, approve, otherwise, reason, hidden = {}, problem } = given;
  const isOwn = requestedBy === visit.operator.name;
  const button = (what: string, submit: string, asked: readonly Field[], shown?: string) =>
    form({
      csrf: visit.csrf,
      action,
      hidden: { what, ...hidden },
      fields: asked,
      submit,
      isDangerous: what === 'reject',
      problem: shown,
    });
  const approval = isOwn
    ? html`<p>Another operator must approve what you proposed.</p>`
    : approve === undefined
      ? html`<p class="problem">What approving does is not known now, so nobody can approve it: look again later.</p>`
      : only(visit, 'approver', () => button('approve', approve, [], problem));
  const end = isOwn ? 'Withdraw the proposal' : 'Reject the proposal';
  return html`${approval}${only(visit, 'operator', () => button('reject', `${end}: ${otherwise}`, [reasonField(reason)], isOwn ? problem : undefined))}`;
}
