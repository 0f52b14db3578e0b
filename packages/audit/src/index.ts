export { createLedgerAudit } from './audit.ts';
export { type AuditOptions, type AuditProgress, type AuditReport, auditLedger } from './audit-ledger.ts';
export type { Head } from './chains.ts';
export { CheckpointError, type CheckpointStore } from './checkpoint.ts';
export { type Invariant, invariants, type Violation } from './findings.ts';
export type { BucketRecord, PageRecord } from './records.ts';
