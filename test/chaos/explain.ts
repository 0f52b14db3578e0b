import type { Violation } from './checker/rules.ts';
import { evidenceOf, type Payment, type World } from './checker/world.ts';

const SHOWN_MAX = 8;

/** All traces of the payments with violations, because a run can't be repeated exactly. */
export function explain(world: World, violations: readonly Violation[]): string {
  const references = new Set(violations.map(({ reference }) => reference));
  const isMeant = ({ reference, merchantReference }: Payment) =>
    references.has(reference) || references.has(merchantReference);
  const all = evidenceOf(world).filter(({ payment }) => isMeant(payment));
  const shown = all.slice(0, SHOWN_MAX).map((evidence) => {
    const { merchantId, merchantReference, reference: ours } = evidence.payment;
    return {
      violations: violations.filter(({ reference }) => [ours, merchantReference].includes(reference)),
      ...evidence,
      entryKinds: [...evidence.entryKinds],
      calls: world.calls.filter(
        (call) => call.merchantId === merchantId && call.reference === merchantReference,
      ),
    };
  });
  return shown.map((one) => JSON.stringify(one, exact)).join('\n');
}

function exact(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
