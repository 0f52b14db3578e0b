import { type CoverageView, coverageOperations, type PaymentKind } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import { type Gap, gapKinds } from '../domain/coverage.ts';
import type { StepStore } from './store.ts';
import type { StepWatch } from './watches.ts';

/** The audit of all open payments: their watches begin again (ADR 27). */
export type Audit = ReturnType<typeof createAudit>;

const kinds = ['payout', 'collection'] as const;
const gaps = Object.keys(gapKinds) as Gap[];
const READ_TIMEOUT_MS = 5_000;

/** Builds the {@link Audit}. */
export function createAudit(
  stepStore: Pick<StepStore, 'restart' | 'marks' | 'counts'>,
  watches: readonly Pick<StepWatch, 'name' | 'kind' | 'isAudited'>[],
  clock: Pick<Clock, 'nowMs'>,
) {
  const audited = watches.filter(({ isAudited }) => isAudited);
  const show = async (kind: PaymentKind, timeoutMs: number): Promise<CoverageView> => {
    const names = audited.filter((watch) => watch.kind === kind).map(({ name }) => name);
    const [marks, counts] = await Promise.all([
      stepStore.marks(names, timeoutMs),
      stepStore.counts(kind, gaps, timeoutMs),
    ]);
    const done = marks.flatMap(({ wholeAt }) => wholeAt?.toISOString() ?? []).toSorted();
    const isRunning = marks.some(({ askedAt, wholeAt }) => wholeAt === undefined || wholeAt <= askedAt);
    return {
      kind,
      askedAt: marks[0]?.askedAt.toISOString() ?? null,
      doneAt: done.length === names.length ? (done[0] ?? null) : null,
      status: isRunning ? 'running' : 'done',
      missing: counts.get('opening') ?? 0,
      ended: counts.get('end') ?? 0,
      behind: counts.get('record') ?? 0,
    };
  };
  return {
    /** Starts an audit, or joins the one that goes on. */
    start: () =>
      stepStore.restart(
        audited.map(({ name }) => name),
        new Date(clock.nowMs()),
      ),
    /** How far the payments of each kind are audited, and how many of each gap are followed at present. */
    show: (timeoutMs: number) => Promise.all(kinds.map((kind) => show(kind, timeoutMs))),
  };
}

/** Adds the operator routes of the audit. */
export function addAuditRoutes(operator: Hono, audit: Audit): void {
  serveOperations(operator, coverageOperations, {
    start: async () => {
      await audit.start();
      return answer(202, { status: 'running' as const });
    },
    show: async () => answer(200, { items: await audit.show(READ_TIMEOUT_MS), next: null }),
  });
}
