import { cancellationOperations, decisionOperations, dryRunOf, pollOperations } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import {
  breakToDecide,
  consequenceOf,
  groundsOf,
  inWords,
  messageOf,
  RefusedError,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { type Field, form, problemOf } from '../view/form.ts';
import { type Content, foreign, link, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts } from '../view/table.ts';
import { addChange, doOrShowAgain, type Given, type Routes, type Visit } from '../visits.ts';
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
        return pathTo(sent);
      },
      (problem) => showPayment(sent, problem),
    ),
  );
  addChange(routes, '/payments/:reference/cancel', showCancellation, async (sent) => {
    await sent.upstream.call('payout-gateway', cancel, { body: { reference: sent.part('reference') } });
    return pathTo(sent);
  });
  addChange(routes, '/payments/:reference/decide', showDecision, async (sent) => {
    const reference = sent.part('reference');
    const body = { reference, ...written(sent.field), commandId: sent.field('commandId') };
    await sent.upstream.call('reconciler', propose, { body });
    return pathTo(sent);
  });
}

const pathTo = ({ part }: Visit, ...more: readonly string[]) =>
  pathOf(['payments', part('reference'), ...more]);

function page(visit: Visit, title: string, body: Content): Page {
  const shown = visit.may('operator') ? body : html`<p>This takes the role operator.</p>`;
  return { title, body: [shown, html`<p>${link(pathTo(visit), 'Back to the payment')}</p>`] };
}

/** What would happen, or why it would be refused. */
async function foresee<Value extends object>(asking: Promise<Value>): Promise<Value | string> {
  try {
    return await asking;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return messageOf(error);
  }
}

/** Shows what a cancellation would end, before it does. */
async function showCancellation(visit: Visit, _given: Given, problem?: string): Promise<Page> {
  const reference = visit.part('reference');
  const title = `Cancel payout ${reference}`;
  if (!visit.may('operator')) return page(visit, title, undefined);
  const { call } = visit.upstream;
  const body = { reference, dryRun: true };
  const found = await foresee(call('payout-gateway', dryRunOf(cancel), { body }));
  if (typeof found === 'string') return page(visit, title, problemOf(problem ?? found));
  const money = displayAmount(found.amount, found.currency);
  const fee = displayAmount(found.fee, found.currency);
  const effect = html`<p>This payout of ${money} (${foreign(found.merchantReference)} of ${foreign(found.merchantId)}) was not sent to ${found.rail}, and will not be. It ends as FAILED, ${money} and our fee of ${fee} go back to the merchant's wallet, and the merchant is told by a webhook. Nothing undoes it.</p>`;
  const submit = `Cancel the payout of ${money} for good`;
  const confirm = form({
    csrf: visit.csrf,
    action: pathTo(visit, 'cancel'),
    submit,
    isDangerous: true,
    problem,
  });
  return page(visit, title, section('What will happen', [effect, confirm]));
}

/** The proposal as it is written so far. */
function written(given: Given) {
  const outcome = (['failed', 'completed'] as const).find((one) => one === given('outcome'));
  return { amount: given('amount'), outcome, note: given('note'), despite: given('despite') };
}

/** Asks for a decision about a payment; once it is written, shows what it would do, before it is proposed. */
async function showDecision(visit: Visit, given: Given, problem?: string): Promise<Page> {
  const title = `Propose a decision about ${visit.part('reference')}`;
  if (!visit.may('operator')) return page(visit, title, undefined);
  const { reference, payment, breaks } = await readPayment(visit);
  const kind = payment?.kind ?? (reference.startsWith('co-') ? 'collection' : 'payout');
  const about = breakToDecide(kind, breaks);
  const why = about
    ? html`<p>${link(pathOf(['breaks', about.id]), inWords(about.kind))}: ${foreign(about.detail)}</p>`
    : html`<p>No break of this payment asks for a decision now.</p>`;
  const proposal = written(given);
  const isWritten = (proposal.amount ?? proposal.outcome) !== undefined;
  const foreseen = isWritten
    ? await foresee(
        visit.upstream.call('reconciler', dryRunOf(propose), {
          body: { reference, ...proposal, dryRun: true },
        }),
      )
    : undefined;
  const refusal = problem ?? (typeof foreseen === 'string' ? foreseen : undefined);
  const action = pathTo(visit, 'decide');
  const fields = fieldsOf(kind, given);
  const ask = section('What happened', [
    why,
    form({ action, fields, submit: 'Show what this would do', problem: refusal }),
  ]);
  if (foreseen === undefined || typeof foreseen === 'string') return page(visit, title, ask);
  const money = displayAmount(foreseen.amount, foreseen.currency);
  const { amount = '', outcome = '', note = '', despite = '' } = proposal;
  const commandId = given('commandId') ?? visit.newId();
  const confirm = form({
    csrf: visit.csrf,
    action,
    hidden: { amount, outcome, note, despite, commandId },
    submit: outcome ? `Propose that the payout of ${money} ${outcome}` : `Propose that ${money} was received`,
    isDangerous: true,
  });
  const grounds = facts(groundsOf(foreseen).map(([name, text]) => [name, foreign(text)]));
  const next = html`<p>Nothing happens until another operator approves it; ${consequenceOf(foreseen) ?? 'then the collection ends with this amount'}.</p>`;
  return page(visit, title, [ask, section('What it would do', [grounds, next, confirm])]);
}

function fieldsOf(kind: 'payout' | 'collection', given: Given): readonly Field[] {
  const text = { maxLength: NOTE_LENGTH_MAX, isLong: true } as const;
  const hint = 'How do you know? Without names or numbers of people.';
  const note = { ...text, name: 'note', label: 'Reason', value: given('note'), hint };
  if (kind === 'payout') {
    const options = [
      ['failed', 'it failed: the rail has not paid, and will not'],
      ['completed', 'it completed: the rail paid the amount asked'],
    ] as const;
    return [
      { name: 'outcome', label: 'How it ended', value: given('outcome'), options },
      { ...note, isRequired: true },
    ];
  }
  const despite = 'Only for more than twice what was asked: why it is right all the same.';
  return [
    { name: 'amount', label: 'What the customer paid', value: given('amount'), isRequired: true },
    note,
    { ...text, name: 'despite', label: 'Despite', value: given('despite'), hint: despite },
  ];
}
