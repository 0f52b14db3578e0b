import { cancellationOperations, decisionOperations, dryRunOf, pollOperations } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, consequenceOf, groundsOf, inWords } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import type { Field } from '../view/form.ts';
import { foreign } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { doOrShowAgain, type Given, type Routes, type Visit } from '../visits.ts';
import { readPayment, showPayment } from './payment.ts';

const NOTE_LENGTH_MAX = 200;
const { cancel } = cancellationOperations;
const { propose } = decisionOperations;

/** Adds what people do with a payment: ask its rail, cancel it, propose a decision about it. */
export function addPaymentForms(routes: Routes): void {
  routes.form('/payments/:reference/poll', (sent) =>
    doOrShowAgain(
      async () => {
        const body = { reference: sent.part('reference') };
        await sent.upstream.call('reconciler', pollOperations.poll, { body });
        return pathOfOwn(sent);
      },
      (problem) => showPayment(sent, problem),
    ),
  );
  addChange(routes, '/payments/:reference/cancel', cancellation, async (sent) => {
    await sent.upstream.call('payout-gateway', cancel, { body: { reference: sent.part('reference') } });
    return pathOfOwn(sent);
  });
  addChange(routes, '/payments/:reference/decide', decision, async (sent) => {
    const body = {
      reference: sent.part('reference'),
      ...written(sent.field),
      commandId: sent.field('commandId'),
    };
    const { id } = await sent.upstream.call('reconciler', propose, { body });
    return pathTo('decision', id);
  });
}

const pathOfOwn = ({ part }: Visit) => pathTo('payment', part('reference'));

const backOf = (visit: Visit) => [pathOfOwn(visit), 'Back to the payment'] as const;

function cancellation(visit: Visit): Change {
  const reference = visit.part('reference');
  const foresee = async (): Promise<Foreseen> => {
    const body = { reference, dryRun: true };
    const found = await visit.upstream.call('payout-gateway', dryRunOf(cancel), { body });
    const money = displayAmount(found.amount, found.currency);
    const fee = displayAmount(found.fee, found.currency);
    const shown = html`<p>This payout of ${money} (${foreign(found.merchantReference)} of ${foreign(found.merchantId)}) was not sent to ${found.rail}, and will not be. It ends as FAILED, ${money} and our fee of ${fee} go back to the merchant's wallet, and the merchant is told by a webhook. Nothing undoes it.</p>`;
    return { shown, submit: `Cancel the payout of ${money} for good`, isDangerous: true };
  };
  return { title: `Cancel payout ${reference}`, foresee, back: backOf(visit) };
}

/** The proposal as it is written so far. */
function written(given: Given) {
  const outcome = (['failed', 'completed'] as const).find((one) => one === given('outcome'));
  return { amount: given('amount'), outcome, note: given('note'), despite: given('despite') };
}

/** Asks for a decision about a payment; once it is written, shows what it would do, before it is proposed. */
async function decision(visit: Visit, given: Given): Promise<Change> {
  const { reference, payment, breaks } = await readPayment(visit);
  const kind = payment?.kind ?? (reference.startsWith('co-') ? 'collection' : 'payout');
  const why = breakToDecide(kind, breaks);
  const foresee = async (): Promise<Foreseen> => {
    const body = { reference, ...written(given), dryRun: true };
    const found = await visit.upstream.call('reconciler', dryRunOf(propose), { body });
    const money = displayAmount(found.amount, found.currency);
    const end = consequenceOf(found) ?? 'then the collection ends with this amount';
    const grounds = facts(groundsOf(found).map(([name, text]) => [name, foreign(text)]));
    return {
      shown: html`${grounds}<p>Nothing happens until an approver who did not propose it approves it; ${end}.</p>`,
      submit: found.outcome
        ? `Propose that the payout of ${money} ${found.outcome}`
        : `Propose that ${money} was received`,
      isDangerous: true,
      hidden: { commandId: visit.newId() },
    };
  };
  return {
    title: `Propose a decision about ${reference}`,
    about: why
      ? html`<p>${linkTo('break', why.id, inWords(why.kind))}: ${foreign(why.detail)}</p>`
      : html`<p>No break of this payment asks for a decision now.</p>`,
    fields: fieldsOf(kind),
    foresee,
    back: backOf(visit),
  };
}

function fieldsOf(kind: 'payout' | 'collection'): readonly Field[] {
  const text = { maxLength: NOTE_LENGTH_MAX, isLong: true } as const;
  const hint = 'How do you know? Without names or numbers of people.';
  const note = { ...text, name: 'note', label: 'Reason', hint };
  if (kind === 'payout') {
    const options = [
      ['failed', 'it failed: the rail has not paid, and will not'],
      ['completed', 'it completed: the rail paid the amount asked'],
    ] as const;
    return [
      { name: 'outcome', label: 'How it ended', options },
      { ...note, isRequired: true },
    ];
  }
  const despite = 'Only for more than twice what was asked: why it is right all the same.';
  return [
    { name: 'amount', label: 'What the customer paid', isRequired: true },
    note,
    { ...text, name: 'despite', label: 'Despite', hint: despite },
  ];
}
