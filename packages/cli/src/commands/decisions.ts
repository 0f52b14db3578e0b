import {
  type BreakView,
  breakOperations,
  type CallOf,
  type DecisionView,
  decisionOperations,
  dryRunOf,
  type PaymentKind,
  timelineOperations,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, inWords, RefusedError } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCommandId, readPositiveAmount } from '../arguments.ts';
import type { FileCaller } from '../clients/call.ts';
import { decisionGrounds, decisionSummary } from '../decision-output.ts';
import type { Called } from '../declared.ts';
import { CliError } from '../errors.ts';
import { withRetryHint } from '../ledger-commands.ts';
import { addAct, addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { addDecidingCommands } from './proposals.ts';

const service = 'reconciler';

/**
 * Adds `decisions …`: what a customer paid if the rail's callback names another amount than was asked (ADR 23), and the
 * outcome of a payout that its rail never ends.
 */
export function addDecisionCommands(program: Command, ports: CliPorts): void {
  const decisions = program
    .command('decisions')
    .description(
      'decisions on what customers paid and how payouts ended; without a verb it lists the newest',
    );
  addList(decisions, ports, {
    name: 'list',
    isDefault: true,
    operation: decisionOperations.list,
    service,
    columns: [
      ['DECISION', ({ id }) => id],
      'status',
      ['PAYMENT', ({ reference }) => reference],
      'asked',
      'amount',
      'outcome',
      ['PROPOSED BY', ({ requestedBy }) => requestedBy],
      ['AT', ({ requestedAt }) => requestedAt],
      ['DECIDED BY', ({ approvedBy, rejectedBy }) => approvedBy ?? rejectedBy],
      'note',
      'despite',
    ],
    empty: ({ status, reference }) =>
      (status ?? reference) === undefined ? 'no decisions yet' : 'no such decisions',
    examples: ['', '--status proposed', '--reference co-0193e5c1 --json'],
  });
  addShow(decisions, ports, {
    name: 'show',
    operation: decisionOperations.show,
    service,
    text: details,
    examples: ['dc-0193e5c1'],
  });
  addProposeCommand(decisions, ports);
  addOutcomeCommand(decisions, ports);
  addDecidingCommands<DecisionView>(decisions, ports, {
    operations: decisionOperations,
    service,
    exampleId: 'dc-0193e5c1',
    approving: 'approves the proposal of another operator: the payment ends by it, which cannot be undone',
    rejecting: 'ends a proposal for good, your own too; the payment goes on waiting',
    exampleReason: 'another amount',
    approved: details,
    details,
    summary: decisionSummary,
  });
}

/** What both proposals have: the operation, and the options that go with any amount or outcome. */
const proposing = {
  operation: decisionOperations.propose,
  service,
  without: ['breakId', 'dryRun'],
  said: (decision: DecisionView) => `${details(decision)}${nextStep(decision)}`,
  help: {
    reference: "our transactionReference, not the merchant's",
    amount: 'in major units, such as 100.50',
    outcome: 'failed: the rail has not paid and will not; completed: it paid the requested amount',
    note: 'how you made sure, in one line of at most 200 characters, without names or numbers of people',
    despite: 'why an amount is right that is more than twice what was asked',
    commandId: 'id of the decision: the same proposal under the same id is one decision',
  },
  read: { commandId: (_: string, text: string) => readCommandId(text) },
} as const;

function addProposeCommand(decisions: Command, ports: CliPorts): void {
  addAct(decisions, ports, {
    ...proposing,
    name: 'propose',
    description: 'proposes what a customer paid, as made sure of with the rail; another approver approves it',
    arguments: ['reference', 'amount'],
    mayLack: ['breakId', 'reference', 'outcome'],
    without: [...proposing.without, 'outcome'],
    ...carriedOut('collection'),
    examples: [
      'co-0193e5c1 100.50 --dry-run',
      'co-0193e5c1 100.50 --note "the statement of the rail says so"',
    ],
  });
}

function addOutcomeCommand(decisions: Command, ports: CliPorts): void {
  addAct(decisions, ports, {
    ...proposing,
    name: 'outcome',
    description: 'proposes how a payout ended that its rail never ends; another approver approves it',
    arguments: ['reference', 'outcome'],
    names: { note: 'reason' },
    mustHave: ['note'],
    without: [...proposing.without, 'amount', 'despite'],
    ...carriedOut('payout'),
    examples: [
      'po-0193e5c1 failed --reason "the rail confirmed it in writing" --dry-run',
      'po-0193e5c1 completed --reason "line 17 of the statement of today"',
    ],
  });
}

/** How a proposal about a kind of payment is sent, or with a dry run only shown. */
const carriedOut = (kind: PaymentKind) =>
  ({
    act: (called: Called) => propose(called, kind),
    dryRun: [(called: Called) => foresee(called, kind), 'proposed'],
  }) as const;

type Proposal = NonNullable<CallOf<typeof decisionOperations.propose>['body']>;

/** A proposal with the break that it is about; its amount is read in the currency of the break. */
async function proposalOf({ context, given }: Called, kind: PaymentKind) {
  const about = await breakOf(context.operations, String(given['reference']), kind);
  const { amount: text, commandId = context.ports.ids.next('dc'), ...said } = given;
  if (typeof text !== 'string') return { about, proposal: { ...said, commandId } };
  if (!about.currency) throw await whyNothingToDecide(context.operations, String(given['reference']), kind);
  const amount = readPositiveAmount('amount', text, about.currency).text;
  return { about, proposal: { ...said, amount, commandId } };
}

async function propose(called: Called, kind: PaymentKind): Promise<DecisionView> {
  const { ports, operations } = called.context;
  const { proposal } = await proposalOf(called, kind);
  const commandId = String(proposal.commandId);
  // Printed before it is sent: if no answer arrives, people must know the id to repeat it with.
  (called.options['json'] ? ports.printError : ports.print)(`proposing ${commandId}\n`);
  const body = proposal as Proposal;
  return operations.call(service, decisionOperations.propose, { body }).catch((error: unknown) => {
    throw error instanceof RefusedError ? error : withRetryHint(error, commandId, 'it may have been taken');
  });
}

/** What would be proposed, as the reconciler judges it. */
async function foresee(called: Called, kind: PaymentKind) {
  const { about, proposal } = await proposalOf(called, kind);
  const body = { ...proposal, dryRun: true } as Proposal;
  const { call } = called.context.operations;
  const answer = await call(service, dryRunOf(decisionOperations.propose), { body });
  const { reference, outcome, amount, currency } = answer;
  const what = outcome ?? `received ${displayAmount(amount, currency)}`;
  const found = `open break: ${inWords(about.kind)}: ${about.detail}`;
  return { answer, text: `would propose: ${reference} ${what}\n${found}\n${decisionGrounds(answer)}` };
}

/** The open break about a payment that people must decide before it can end; without one, throws an error that says why. */
async function breakOf(
  operations: Pick<FileCaller, 'call'>,
  reference: string,
  kind: PaymentKind,
): Promise<BreakView> {
  const query = { reference, status: 'unresolved' } as const;
  const { items } = await operations.call(service, breakOperations.list, { query });
  const found = breakToDecide(kind, items);
  if (found) return found;
  throw await whyNothingToDecide(operations, reference, kind);
}

/** An error that says where a payment stands about which people have nothing to decide, and what to do instead. */
async function whyNothingToDecide(
  { call }: Pick<FileCaller, 'call'>,
  reference: string,
  kind: PaymentKind,
): Promise<CliError> {
  const known = await call(service, timelineOperations.show, { query: { reference } }).catch(
    (error: unknown) => {
      if (!(error instanceof RefusedError) || error.status !== 404) throw error;
    },
  );
  if (!known) {
    return new CliError(
      `reference: no payment ${reference} is known: write our transactionReference, see pesewa payments list ${kind}s`,
    );
  }
  if (known.kind !== null && known.kind !== kind) {
    const verb = kind === 'payout' ? 'propose' : 'outcome';
    return new CliError(`reference: ${reference} is a ${known.kind}: see pesewa decisions ${verb} --help`);
  }
  const { status, nextPollAt } = known;
  if (status !== 'open') {
    return new CliError(
      `reference: ${reference} is ${status}, which no decision changes: correct what was booked by an order (pesewa adjust --help)`,
    );
  }
  const next = nextPollAt === null ? '' : `; its rail is asked again at ${nextPollAt}`;
  return new CliError(
    `reference: ${reference} is open, and none of its breaks waits for a decision${next}: see pesewa timeline ${reference}`,
  );
}

/** A decision with what both operators judge it by. */
function details(decision: DecisionView): string {
  return `${decisionSummary(decision)}${decisionGrounds(decision)}`;
}

function nextStep({ id, status, expiresAt }: DecisionView): string {
  if (status !== 'proposed') return '';
  const until = expiresAt === undefined ? '' : ` until ${expiresAt}`;
  return `waiting for another approver${until}: pesewa decisions approve ${id}\n`;
}
