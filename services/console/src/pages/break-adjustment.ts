import { breakChanges, orderOperations, proposalOperations, type ShownBreakView } from '@pesewa/contracts';
import { amountProblem, displayAmount, formatAmount, parsePositiveAmount } from '@pesewa/kernel';
import {
  correctionOf,
  describeOrder,
  type ForeseenOrder,
  foreseeOrder,
  inWords,
  mayBeBooked,
  minorOf,
  nextCommandId,
  type OrderRequest,
  pendingOf,
  placeAdjustment,
  RefusedError,
  reasonForBreak,
  whyWrongSign,
} from '@pesewa/operator-client';
import { html } from 'hono/html';
import { addChange, type Change, type Foreseen } from '../view/change.ts';
import type { Html } from '../view/html.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts } from '../view/table.ts';
import { plainAmount, type TimeView, words } from '../view/values.ts';
import { type Given, orMissing, type Routes, type Submission, type Visit } from '../visits.ts';
import { findBreak, nameOf } from './break.ts';

const REASON_LENGTH_MAX = 200;

/** Adds the page on which a break is corrected by an order to the ledger, which another operator approves. */
export function addBreakAdjustmentPage(routes: Routes): void {
  addChange(routes, '/breaks/:id/adjust', ask, order);
}

async function ask(visit: Visit, given: Given): Promise<Change> {
  const found = await findBreak(visit);
  const { id, currency, status } = found;
  const common: Change = {
    title: `Correct our books: ${nameOf(found)}`,
    role: 'operator',
    back: [pathTo('break', id), 'Back to the break'],
  };
  if (pendingOf(found)) return { ...common, ...(await askAboutPending(visit, found)) };
  if (status === 'resolved')
    return { ...common, about: html`<p>The break is resolved: reopen it first.</p>` };
  const wanted = correctionFor(found);
  const signs = '+ if our float, or the wallet, gets more, and - if it gets less';
  const written = (name: string, label: string) => ({ name, label, value: given(name) });
  const why = { maxLength: REASON_LENGTH_MAX - reasonForBreak('', id).length, isRequired: true };
  return {
    ...common,
    about: html`<p>An order corrects our books against suspense. Another operator approves it; once it is booked, the break is resolved.</p>`,
    fields: [
      {
        ...written('amount', 'Amount'),
        value: given('amount') ?? (wanted && signed(wanted)),
        isRequired: true,
        hint: wanted
          ? `${displayAmount(wanted, currency ?? '', 'exceptZero')} makes both sides the same; write ${signs}`
          : `with ${signs}`,
      },
      { ...written('merchant', "Instead of our float, a merchant's wallet"), hint: 'the id of the merchant' },
      ...(currency === null ? [written('currency', 'Currency')] : []),
      { ...written('explanation', 'Why'), ...why, hint: 'without names or numbers of people' },
    ],
    foresee: () => foresee(visit, given, found),
  };
}

/** What our float must gain so that both sides are the same; undefined if nothing, or not known. */
function correctionFor({ id, ours, theirs, currency, floatChange }: ShownBreakView): string | undefined {
  const isWallet = id.endsWith('/balance') && ours !== null && theirs !== null && currency !== null;
  const change = isWallet
    ? formatAmount(minorOf(theirs, currency) - minorOf(ours, currency), currency)
    : floatChange;
  return change === null || change === '0' ? undefined : change;
}

const signed = (amount: string) => amount.replace(/^(?=\d)/, '+');

/** What can be done about the order that was asked for before. */
async function askAboutPending({ upstream, times }: Visit, found: ShownBreakView): Promise<Partial<Change>> {
  const pending = pendingOf(found);
  if (!pending) return {};
  const { commandId, amount, currency, merchantId } = pending;
  const placed = await orMissing(
    upstream.call('ledger', orderOperations.show, { parameters: { commandId } }),
  );
  const order = html`The order ${linkTo('order', commandId)}`;
  if (!placed)
    return {
      about: html`<p>The order ${commandId} was noted, and never reached the ledger.</p>`,
      hidden: {
        ...{ commandId, amount: signed(amount), currency, merchant: merchantId },
        ...{ explanation: found.explanation ?? '', version: String(found.version) },
      },
      submit: 'Ask for it again',
    };
  if (mayBeBooked(placed, times.nowMs))
    return { about: html`<p>${order} waits already: it must be approved, or rejected, first.</p>` };
  return {
    about: html`<p>${order} (${inWords(placed.status)}) will never be booked.</p>`,
    hidden: { withdraws: commandId },
    submit: 'Free the break from this order',
  };
}

async function foresee({ upstream, times }: Visit, given: Given, found: ShownBreakView): Promise<Foreseen> {
  const request = requestOf(given, found);
  const wrong = whyWrongSign(found, request);
  if (wrong !== undefined) throw new RefusedError(`amount: ${wrong}`, 422);
  const { lines, isRefused } = await foreseeOrder(upstream, request);
  const what = describeOrder({ ...request, ...request.account });
  return {
    shown: html`<p>${what}</p>${linesOf(lines, times)}`,
    submit: isRefused ? undefined : `Ask for this order: ${what}`,
    hidden: { commandId: nextCommandId(found), version: String(found.version) },
  };
}

/** What an order would change, with its warnings. */
export function linesOf(lines: ForeseenOrder['lines'], times: TimeView): Html {
  const values = lines.flatMap((line) =>
    typeof line === 'string' ? [] : [[`${line[0]} ${line[1]}`, words(line[2], times)] as const],
  );
  const warnings = lines.filter((line) => typeof line === 'string');
  return html`${facts(values)}${warnings.map((one) => html`<p class="problem">${one}</p>`)}`;
}

function requestOf(given: Given, found: ShownBreakView): OrderRequest {
  const currency = found.currency ?? given('currency')?.toUpperCase() ?? '';
  const text = plainAmount(given('amount') ?? '');
  const wrong = (why: string) => new RefusedError(why, 422);
  if (!/^[+-]/.test(text))
    throw wrong('amount: write + or - before it, such as +12.50: it says where the money goes');
  const sum = parsePositiveAmount(text.slice(1), currency);
  if (!sum.ok) throw wrong(`amount: ${text} ${amountProblem(sum.refusal, currency)}`);
  const merchantId = given('merchant');
  if (merchantId === undefined && found.rail === null)
    throw wrong('merchant: the break is of no rail: name the merchant');
  const minor = text.startsWith('-') ? -sum.value.minor : sum.value.minor;
  const account = merchantId === undefined ? { rail: found.rail ?? '' } : { merchantId };
  return correctionOf(account, currency, { minor, text: formatAmount(sum.value.minor, currency) });
}

async function order(submission: Submission): Promise<string> {
  const { upstream, field, part: named } = submission;
  const id = named('id');
  const withdraws = field('withdraws');
  if (withdraws !== undefined) {
    const body = { commandId: withdraws };
    await upstream.call('reconciler', breakChanges.withdraw, { parameters: { id }, body });
    return pathTo('break', id);
  }
  const request = requestOf(field, await findBreak(submission));
  const { kind, account, currency, amount, direction } = request;
  const explanation = field('explanation') ?? '';
  const commandId = field('commandId') ?? '';
  const body = {
    ...{ ...account, commandId, currency, amount, direction },
    reason: reasonForBreak(explanation, id),
  };
  const given = { commandId, request, explanation, version: Number(field('version')) };
  await placeAdjustment(upstream, id, given, () =>
    upstream.call('ledger', proposalOperations[kind], { body: body as never }),
  );
  return pathTo('break', id);
}
