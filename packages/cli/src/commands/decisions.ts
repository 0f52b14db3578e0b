import { type CallOf, type DecisionView, decisionOperations, dryRunOf } from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { RefusedError } from '@pesewa/operator-client';
import type { Command } from 'commander';
import { readCommandId } from '../arguments.ts';
import { decisionGrounds, decisionSummary } from '../decision-output.ts';
import type { Called } from '../declared.ts';
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
  without: ['dryRun'],
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
  act: propose,
  dryRun: [foresee, 'proposed'],
} as const;

function addProposeCommand(decisions: Command, ports: CliPorts): void {
  addAct(decisions, ports, {
    ...proposing,
    name: 'propose',
    description: 'proposes what a customer paid, as made sure of with the rail; another approver approves it',
    arguments: ['reference', 'amount'],
    without: [...proposing.without, 'outcome'],
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
    examples: [
      'po-0193e5c1 failed --reason "the rail confirmed it in writing" --dry-run',
      'po-0193e5c1 completed --reason "line 17 of the statement of today"',
    ],
  });
}

type Proposal = NonNullable<CallOf<typeof decisionOperations.propose>['body']>;

async function propose({ context: { ports, operations }, given, options }: Called): Promise<DecisionView> {
  const body = { ...given, commandId: given['commandId'] ?? ports.ids.next('dc') } as Proposal;
  const commandId = String(body.commandId);
  // Printed before it is sent: if no answer arrives, people must know the id to repeat it with.
  (options['json'] ? ports.printError : ports.print)(`proposing ${commandId}\n`);
  return operations.call(service, decisionOperations.propose, { body }).catch((error: unknown) => {
    throw error instanceof RefusedError ? error : withRetryHint(error, commandId, 'it may have been taken');
  });
}

/** What would be proposed, as the reconciler judges it. */
async function foresee({ context: { operations }, given }: Called) {
  const body = { ...given, dryRun: true } as Proposal;
  const answer = await operations.call(service, dryRunOf(decisionOperations.propose), { body });
  const { reference, breakId, outcome, amount, currency } = answer;
  const what = outcome ?? `received ${displayAmount(amount, currency)}`;
  const found = `open break: ${breakId}`;
  return { answer, text: `would propose: ${reference} ${what}\n${found}\n${decisionGrounds(answer)}` };
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
