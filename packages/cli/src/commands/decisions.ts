import {
  type BreakView,
  breakOperations,
  type CallOf,
  type DecisionView,
  decidedOutcomes,
  decisionOperations,
  dryRunOf,
  type PaymentKind,
  timelineOperations,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { breakToDecide, inWords, RefusedError } from '@pesewa/operator-client';
import { Argument, type Command } from 'commander';
import { readCommandId, readLine, readPositiveAmount } from '../arguments.ts';
import type { FileCaller } from '../clients/call.ts';
import { openContext } from '../context.ts';
import { decisionGrounds, decisionSummary } from '../decision-output.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { withRetryHint } from '../ledger-commands.ts';
import { addList, addShow } from '../operation-commands.ts';
import type { CliPorts } from '../ports.ts';
import { addDecidingCommands } from './proposals.ts';

const TEXT_LENGTH_MAX = 200;
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

interface ProposeOptions {
  readonly note?: string;
  readonly despite?: string;
  readonly commandId?: string;
  readonly dryRun?: boolean;
}

/** Adds the options of every proposal. */
const asProposal = (command: Command) =>
  command
    .option('--command-id <id>', 'id of the decision: the same proposal under the same id is one decision')
    .option('--dry-run', 'show what would be proposed, or why not, and propose nothing');

function addProposeCommand(decisions: Command, ports: CliPorts): void {
  const propose = decisions
    .command('propose')
    .description('proposes what a customer paid, as made sure of with the rail; another approver approves it')
    .argument('<reference>', "our transactionReference, not the merchant's")
    .argument('<amount>', 'in major units, such as 100.50')
    .option('--note <text>', 'why, in one line of at most 200 characters, without names or numbers of people')
    .option('--despite <reason>', 'why an amount is right that is more than twice what was asked');
  asProposal(propose).action(
    async (reference: string, text: string, options: ProposeOptions, command: Command) => {
      const line = (name: 'note' | 'despite') =>
        options[name] === undefined ? {} : { [name]: readLine(`--${name}`, options[name], TEXT_LENGTH_MAX) };
      const commandId = readCommandId(options.commandId) ?? ports.ids.next('dc');
      const { operations } = await openContext(ports, command);
      const about = await breakOf(operations, reference, 'collection');
      if (!about.currency) throw await whyNothingToDecide(operations, reference, 'collection');
      const amount = readPositiveAmount('amount', text, about.currency).text;
      const proposal = { reference, amount, commandId, ...line('note'), ...line('despite') };
      await sendProposal({ ports, operations }, proposal, about, options.dryRun);
    },
  );
  withExamples(propose, [
    'pesewa decisions propose co-0193e5c1 100.50 --dry-run',
    'pesewa decisions propose co-0193e5c1 100.50 --note "the statement of the rail says so"',
  ]);
}

function addOutcomeCommand(decisions: Command, ports: CliPorts): void {
  const outcome = decisions
    .command('outcome')
    .description('proposes how a payout ended that its rail never ends; another approver approves it')
    .argument('<reference>', "our transactionReference, not the merchant's")
    .addArgument(
      new Argument(
        '<outcome>',
        'failed: the rail has not paid and will not; completed: it paid the requested amount',
      ).choices(decidedOutcomes),
    )
    .requiredOption(
      '--reason <text>',
      'how you made sure, in one line of at most 200 characters, without names or numbers of people',
    );
  asProposal(outcome).action(
    async (
      reference: string,
      end: (typeof decidedOutcomes)[number],
      options: ProposeOptions & { readonly reason: string },
      command: Command,
    ) => {
      const note = readLine('--reason', options.reason, TEXT_LENGTH_MAX);
      const commandId = readCommandId(options.commandId) ?? ports.ids.next('dc');
      const { operations } = await openContext(ports, command);
      const about = await breakOf(operations, reference, 'payout');
      const proposal = { reference, outcome: end, note, commandId };
      await sendProposal({ ports, operations }, proposal, about, options.dryRun);
    },
  );
  withExamples(outcome, [
    'pesewa decisions outcome po-0193e5c1 failed --reason "the rail confirmed it in writing" --dry-run',
    'pesewa decisions outcome po-0193e5c1 completed --reason "line 17 of the statement of today"',
  ]);
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

type Proposal = CallOf<typeof decisionOperations.propose>['body'] & { readonly commandId: string };

/** Sends a proposal and prints the next step; or, with a dry run, what would be proposed, as the reconciler judges it. */
async function sendProposal(
  { ports, operations }: { readonly ports: CliPorts; readonly operations: Pick<FileCaller, 'call'> },
  proposal: Proposal,
  about: Pick<BreakView, 'kind' | 'detail'>,
  isDryRun = false,
): Promise<void> {
  const { propose } = decisionOperations;
  if (isDryRun) {
    const body = { ...proposal, dryRun: true };
    const foreseen = await operations.call(service, dryRunOf(propose), { body });
    const { reference, outcome, amount, currency } = foreseen;
    const what = outcome ?? `received ${displayAmount(amount, currency)}`;
    const found = `open break: ${inWords(about.kind)}: ${about.detail}`;
    ports.print(
      `would propose: ${reference} ${what}\n${found}\n${decisionGrounds(foreseen)}nothing was proposed\n`,
    );
    return;
  }
  // Printed before it is sent: if no answer arrives, people must know the id to repeat it with.
  ports.print(`proposing ${proposal.commandId}\n`);
  const proposed = await operations.call(service, propose, { body: proposal }).catch((error: unknown) => {
    throw error instanceof RefusedError
      ? error
      : withRetryHint(error, proposal.commandId, 'it may have been taken');
  });
  ports.print(`${details(proposed)}${nextStep(proposed)}`);
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
