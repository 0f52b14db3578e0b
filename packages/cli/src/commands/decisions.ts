import {
  type BreakView,
  type DecisionView,
  decidedOutcomes,
  decisionStatuses,
  type PaymentKind,
  timelineOperations,
} from '@pesewa/contracts';
import { displayAmount } from '@pesewa/kernel';
import { inWords, RefusedError } from '@pesewa/operator-client';
import { Argument, type Command, Option } from 'commander';
import { asList, readCommandId, readCount, readLine, readPositiveAmount } from '../arguments.ts';
import type { Operations } from '../clients/operations.ts';
import { openContext } from '../context.ts';
import { decisionGrounds, decisionSummary } from '../decision-output.ts';
import { CliError } from '../errors.ts';
import { withExamples } from '../help.ts';
import { withRetryHint } from '../ledger-commands.ts';
import type { CliPorts } from '../ports.ts';
import { amountCell, formatJson, formatTable } from '../print.ts';
import { addDecidingCommands, type ProposalKind } from './proposals.ts';

const TEXT_LENGTH_MAX = 200;

interface ListOptions {
  readonly status?: DecisionView['status'];
  readonly reference?: string;
  readonly limit: string;
  readonly json?: boolean;
}

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
  addListCommand(decisions, ports);
  addProposeCommand(decisions, ports);
  addOutcomeCommand(decisions, ports);
  addDecidingCommands(decisions, ports, deciding);
}

const deciding: ProposalKind<DecisionView> = {
  noun: 'decision',
  exampleId: 'dc-0193e5c1',
  approving: 'approves the proposal of another operator: the payment ends by it, which cannot be undone',
  rejecting: 'ends a proposal for good, your own too; the payment goes on waiting',
  exampleReason: 'another amount',
  of: ({ operations }) => operations.decisions,
  approve: async ({ ports, operations }, id) => {
    ports.print(details(await operations.decisions.approve(id)));
  },
  details,
  summary: decisionSummary,
};

function addListCommand(decisions: Command, ports: CliPorts): void {
  const list = asList(decisions.command('list', { isDefault: true }))
    .description('the newest decisions, with who proposed and who decided')
    .addOption(new Option('--status <status>', 'only those with this status').choices(decisionStatuses))
    .option('--reference <reference>', 'only those of one payment, by our transactionReference')
    .action(async (options: ListOptions, command: Command) => {
      const { status, reference } = options;
      const limit = readCount('--limit', options.limit);
      const { operations } = await openContext(ports, command);
      const found = await operations.decisions.list({ status, reference }, limit);
      const empty = (status ?? reference) ? 'no such decisions' : 'no decisions yet';
      ports.print(options.json ? formatJson(found) : table(found, ports.colours, empty));
    });
  withExamples(list, [
    'pesewa decisions list',
    'pesewa decisions list --status proposed',
    'pesewa decisions list --reference co-0193e5c1 --json',
  ]);
}

const commandIdOption = () =>
  new Option('--command-id <id>', 'id of the decision: the same proposal under the same id is one decision');
const dryRunOption = () => new Option('--dry-run', 'show what would be proposed, and send nothing');

interface ProposeOptions {
  readonly note?: string;
  readonly despite?: string;
  readonly commandId?: string;
  readonly dryRun?: boolean;
}

function addProposeCommand(decisions: Command, ports: CliPorts): void {
  const propose = decisions
    .command('propose')
    .description('proposes what the customer of a waiting collection paid; another approver approves it')
    .argument('<reference>', "our transactionReference, not the merchant's")
    .argument('<amount>', 'what the customer paid, in major units')
    .option('--note <text>', 'why, in one line of at most 200 characters, without names or numbers of people')
    .option('--despite <reason>', 'why an amount is right that is more than twice what was asked')
    .addOption(commandIdOption())
    .addOption(dryRunOption())
    .action(async (reference: string, text: string, options: ProposeOptions, command: Command) => {
      const note = options.note === undefined ? undefined : readLine('--note', options.note, TEXT_LENGTH_MAX);
      const commandId = readCommandId(options.commandId) ?? ports.ids.next('dc');
      const { operations } = await openContext(ports, command);
      const about = await operations.decisions.openBreak(reference);
      if (!about?.currency) throw await whyNothingToDecide(operations, reference, 'collection');
      const amount = readPositiveAmount('amount', text, about.currency).text;
      const despite =
        options.despite === undefined ? undefined : readLine('--despite', options.despite, TEXT_LENGTH_MAX);
      const said = { ...(note !== undefined && { note }), ...(despite !== undefined && { despite }) };
      const proposal = { reference, amount, commandId, ...said };
      if (options.dryRun) await previewProposal({ ports, operations }, proposal, about);
      else await sendProposal({ ports, operations }, proposal);
    });
  withExamples(propose, [
    'pesewa decisions propose co-0193e5c1 100.50 --dry-run',
    'pesewa decisions propose co-0193e5c1 100.50 --note "the statement of the rail says so"',
  ]);
}

interface OutcomeOptions {
  readonly reason: string;
  readonly commandId?: string;
  readonly dryRun?: boolean;
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
    )
    .addOption(commandIdOption())
    .addOption(dryRunOption())
    .action(
      async (
        reference: string,
        end: (typeof decidedOutcomes)[number],
        options: OutcomeOptions,
        command: Command,
      ) => {
        const note = readLine('--reason', options.reason, TEXT_LENGTH_MAX);
        const commandId = readCommandId(options.commandId) ?? ports.ids.next('dc');
        const { operations } = await openContext(ports, command);
        const about = await operations.decisions.stuckBreak(reference);
        if (!about) throw await whyNothingToDecide(operations, reference, 'payout');
        const proposal = { reference, outcome: end, note, commandId };
        if (options.dryRun) await previewProposal({ ports, operations }, proposal, about);
        else await sendProposal({ ports, operations }, proposal);
      },
    );
  withExamples(outcome, [
    'pesewa decisions outcome po-0193e5c1 failed --reason "the rail confirmed it in writing" --dry-run',
    'pesewa decisions outcome po-0193e5c1 completed --reason "line 17 of the statement of today"',
  ]);
}

/** An error that says where a payment stands about which people have nothing to decide, and what to do instead. */
async function whyNothingToDecide(
  { call }: Operations,
  reference: string,
  kind: PaymentKind,
): Promise<CliError> {
  const known = await call('reconciler', timelineOperations.show, { query: { reference } }).catch(
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

/** Shows what would be proposed, as the reconciler judges it. */
async function previewProposal(
  { ports, operations }: { readonly ports: CliPorts; readonly operations: Operations },
  proposal: Parameters<Operations['decisions']['propose']>[0],
  about: Pick<BreakView, 'kind' | 'detail'>,
): Promise<void> {
  const foreseen = await operations.decisions.preview(proposal);
  const { reference, outcome, amount, currency } = foreseen;
  const what = outcome ?? `received ${displayAmount(amount, currency)}`;
  const found = `open break: ${inWords(about.kind)}: ${about.detail}`;
  ports.print(
    `would propose: ${reference} ${what}\n${found}\n${decisionGrounds(foreseen)}nothing was proposed\n`,
  );
}

/** Sends a proposal and prints the next step. */
async function sendProposal(
  { ports, operations }: { readonly ports: CliPorts; readonly operations: Operations },
  proposal: Parameters<Operations['decisions']['propose']>[0],
): Promise<void> {
  // Printed before it is sent: if no answer arrives, people must know the id to repeat it with.
  ports.print(`proposing ${proposal.commandId}\n`);
  const proposed = await operations.decisions.propose(proposal).catch((error: unknown) => {
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

function table(decisions: readonly DecisionView[], colours: boolean, empty: string): string {
  return formatTable(
    [
      'DECISION',
      'STATUS',
      'PAYMENT',
      'ASKED',
      'AMOUNT',
      'OUTCOME',
      'PROPOSED BY',
      'AT',
      'DECIDED BY',
      'NOTE',
      'DESPITE',
    ],
    decisions.map((decision) => [
      decision.id,
      decision.status,
      decision.reference,
      amountCell(decision.asked, decision.currency),
      amountCell(decision.amount, decision.currency),
      decision.outcome,
      decision.requestedBy,
      decision.requestedAt,
      decision.approvedBy ?? decision.rejectedBy,
      decision.note,
      decision.despite,
    ]),
    { colours, empty, right: ['ASKED', 'AMOUNT'] },
  );
}
