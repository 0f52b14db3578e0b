/** What a crash leaves behind at the points that a pattern matches, and who continues. */
export interface CrashOutcome {
  readonly points: RegExp;
  readonly left: string;
  readonly next: string;
}

/** By the names of crash points, in which `<service>` stands for each service; the first pattern that matches counts. */
export const crashOutcomes: readonly CrashOutcome[] = [
  {
    points: /\.accept[a-z-]*\.before-commit$|^collections\.complete\.before-commit$/,
    left: 'nothing of the request, and no answer',
    next: 'the merchant or the rail sends it again; the next poll finds what a lost callback said',
  },
  {
    points: /\.accept[a-z-]*\.after-commit$/,
    left: 'the record and its outbox record; the answer is lost',
    next: 'the sweeper sends the event; the same request again has no second effect',
  },
  {
    points: /^(?:payouts|collections)\.(?:submit\.|initiate\.|outcome\.before)/,
    left: 'an attempt without an answer',
    next: "the reconciler asks: the rail's end ends the payment; NOT FOUND after the grace time sends it again (a collection within `INITIATE_FOR_MS`) under the same reference; a refusal then is [not final](../ARCHITECTURE.md#what-happens-after-a-crash)",
  },
  {
    points: /^collections\.complete\.(?:after-commit|before-call)$/,
    left: 'a counted try that was never sent, and its lease',
    next: "the merchant completes again once the lease is over; else the rail's answer ends the collection",
  },
  {
    points: /^collections\.complete\.after-call$/,
    left: 'a try whose answer is lost, and its lease',
    next: "the reconciler asks; the rail's answer ends the collection",
  },
  {
    points: /^(?:reconciler\.(?:poll|close)|payouts\.decided|webhooks\.\w+)\.before|\.after-call$/,
    left: 'a claimed record',
    next: 'any replica when the lease ends; a webhook may come twice with one webhook-id',
  },
  {
    points: /^(?:reconciler\.(?:proposal|decision|break)|ledger\.(?:command|decision))\.before-commit$/,
    left: 'everything as it was, and no answer',
    next: 'the operator repeats the request',
  },
  {
    points: /^(?:reconciler\.proposal|ledger\.command)\.after-commit$/,
    left: 'the proposal; the answer is lost',
    next: 'the operator repeats the request under the same id, and gets the same proposal',
  },
  {
    points: /\.decision\.after-commit$/,
    left: 'the decision, and the outbox record of an approval',
    next: 'the sweeper sends the event; the same decision again gets the same answer',
  },
  {
    points: /^reconciler\.(?:steps|comparison)\.before-commit$/,
    left: 'everything as it was',
    next: 'the next run, by any replica',
  },
  {
    points: /^reconciler\.comparison\.after-lease$/,
    left: 'a lease that nobody uses',
    next: 'the next run after the lease',
  },
  {
    points: /^reconciler\.(?:match-page|statement-breaks)\.before-commit$/,
    left: 'a close or a statement without its last page or its last breaks',
    next: 'the next holder of the lease repeats the step',
  },
  {
    points: /^reconciler\.(?:match-page|statement-breaks)\.after-commit$/,
    left: 'the page or the breaks, and how far the run is',
    next: 'the next holder of the lease continues there; the sweeper sends the events',
  },
  {
    points: /^reconciler\.statement\./,
    left: 'a part of the lines of a statement',
    next: 'the sender sends the file again; lines that are stored are replaced',
  },
  {
    points: /^relay\.before-send$/,
    left: 'outbox records',
    next: "the sweeper or the partition's next owner sends them",
  },
  {
    points: /^relay\.after-send$/,
    left: 'outbox records that Kafka has already',
    next: 'they are sent twice; consumers drop the second',
  },
  { points: /^relay\.after-removal$/, left: 'nothing', next: 'nobody has to' },
  {
    points: /^<service>\.batch\.before-commit$/,
    left: 'neither effects nor offset',
    next: "the partition's next owner applies the batch again",
  },
  {
    points: /^<service>\.batch\.after-commit$/,
    left: 'effects, offset and outbox record; records claimed as they were written',
    next: "the partition's next owner sends the outbox record; a claimed payout waits for the lookup, other records for the end of their lease",
  },
  {
    points: /\.after-commit$/,
    left: 'the change and its outbox record',
    next: 'the sweeper sends the event',
  },
];
