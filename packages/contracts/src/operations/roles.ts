/** What operators may do, each more than the one before: look; act; approve what others proposed; change settings. */
export const operatorRoles = ['viewer', 'operator', 'approver', 'admin'] as const;

/** One of the {@link operatorRoles}. */
export type OperatorRole = (typeof operatorRoles)[number];

/** Whether a role is at least another. */
export function includesRole(role: OperatorRole, needed: OperatorRole): boolean {
  return operatorRoles.indexOf(role) >= operatorRoles.indexOf(needed);
}

/** How many letters an operator's name may have. */
export const OPERATOR_LENGTH_MAX = 40;
