import { type CoverageView, coverageOperations } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { answer, serveOperations } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Gap } from '../domain/coverage.ts';
import type { StepStore } from './store.ts';
import { auditedLooks } from './watches.ts';

/** The audit of all open payments: their looks begin again (ADR 27). */
export type Audit = ReturnType<typeof createAudit>;

const kinds = ['payout', 'collection'] as const;
const READ_TIMEOUT_MS = 5_000;

/** Builds the {@link Audit}. */
export function createAudit(
  stepStore: Pick<StepStore, 'restart' | 'marks' | 'followed'>,
  clock: Pick<Clock, 'nowMs'>,
) {
  return {
    /** Starts an audit, or joins the one that goes on. */
    start: () => stepStore.restart(kinds.flatMap(auditedLooks), new Date(clock.nowMs())),
    /** How far the payments of each kind are audited, and how many of each gap are followed at present. */
    show: async (timeoutMs: number): Promise<CoverageView[]> => {
      const [all, followed] = await Promise.all([
        stepStore.marks(kinds.flatMap(auditedLooks), timeoutMs),
        stepStore.followed(timeoutMs),
      ]);
      return kinds.map((kind) => {
        const names: readonly string[] = auditedLooks(kind);
        const marks = all.filter(({ _id }) => names.includes(_id));
        const done = marks.flatMap(({ wholeAt }) => wholeAt?.toISOString() ?? []).toSorted();
        const isRunning = marks.some(({ askedAt, wholeAt }) => wholeAt === undefined || wholeAt <= askedAt);
        const count = (gap: Gap) => followed.find((one) => one.kind === kind && one.step === gap)?.count ?? 0;
        return {
          kind,
          askedAt: marks[0]?.askedAt.toISOString() ?? null,
          doneAt: done.length === names.length ? (done[0] ?? null) : null,
          status: isRunning ? 'running' : 'done',
          missing: count('opening'),
          ended: count('end'),
          behind: count('record'),
        };
      });
    },
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
