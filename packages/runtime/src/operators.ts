import { createHash, timingSafeEqual } from 'node:crypto';
import { type CallerView, includesRole, type OperatorRole, operatorRoles } from '@pesewa/contracts';
import { accept } from '@pesewa/kernel';
import type { Context } from 'hono';
import { z } from 'zod';
import { type IdentifyToken, readOperatorName, refuseToken } from './operator-tokens.ts';

/** A person or program that may use the operator APIs, identified by the hash of a token. */
export interface NamedOperator extends CallerView {
  /** SHA-256 of the token, 32 bytes. */
  readonly tokenHash: Uint8Array;
}

/** Finds the owner of a token. */
export interface Operators {
  readonly identify: IdentifyToken;
}

/** The name that goes with `OPERATOR_TOKEN`. */
const MAIN_OPERATOR = 'operator';

const ENTRY = new RegExp(`^([a-z][a-z0-9-]{1,31}):(${operatorRoles.join('|')}):([0-9a-f]{64})$`);

const CONTEXT_KEY = 'pesewa.operator';

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** The hash that a script makes of a variable that is not set. */
const EMPTY_HASH = createHash('sha256').digest('hex');

/**
 * The operators in addition to that of `OPERATOR_TOKEN`, from `name:role:hash,name:role:hash` (ADR 17).
 *
 * A duplicate name or token is refused: two names with one token would let one person approve their own orders.
 */
export const operatorsSetting = z
  .string()
  .default('')
  .transform((text, context): readonly NamedOperator[] => {
    const entries = text === '' ? [] : text.split(',').map((entry) => entry.trim());
    const seen = new Set([MAIN_OPERATOR]);
    return entries.flatMap((entry, index) => {
      const printError = (problem: string): readonly NamedOperator[] => {
        // Named by its position and never quoted: somebody may have put the token itself there.
        context.addIssue({ code: 'custom', message: `entry ${index + 1} ${problem}` });
        return [];
      };
      const [, name = '', role = '', hash = ''] = ENTRY.exec(entry) ?? [];
      if (name === '') {
        return printError(
          `must be name:role:hash, the name 2 to 32 of a-z, 0-9 and -, the role one of ${operatorRoles.join(', ')}, the hash its token's SHA-256 in hex`,
        );
      }
      if (name === MAIN_OPERATOR) return printError(`must not be called ${name}: OPERATOR_TOKEN is theirs`);
      if (hash === EMPTY_HASH) return printError('has the hash of an empty token: hash the token itself');
      if (seen.has(name)) return printError(`names ${name} again`);
      if (seen.has(hash)) return printError(`has the token of another entry: each operator needs their own`);
      seen.add(name).add(hash);
      return [{ name, role: role as OperatorRole, tokenHash: Uint8Array.from(Buffer.from(hash, 'hex')) }];
    });
  });

/**
 * What is wrong with the operators as a whole, if anything: the main token must not belong to a named operator too, and an
 * issuer's tokens must be meant for us.
 */
export function operatorsProblem(config: {
  readonly OPERATOR_TOKEN: string;
  readonly OPERATORS: readonly NamedOperator[];
  readonly OPERATORS_ISSUER?: string | undefined;
  readonly OPERATORS_AUDIENCE?: string | undefined;
}): string | undefined {
  if ((config.OPERATORS_ISSUER === undefined) !== (config.OPERATORS_AUDIENCE === undefined))
    return 'OPERATORS_AUDIENCE: give it together with OPERATORS_ISSUER, or none of them';
  const main = sha256(config.OPERATOR_TOKEN);
  const shared = config.OPERATORS.find(({ tokenHash }) => timingSafeEqual(tokenHash, main));
  return shared && `OPERATORS: ${shared.name} has the token of OPERATOR_TOKEN: each operator needs their own`;
}

/**
 * Builds {@link Operators}: `operator` for the main token, the named ones, and those whose tokens `verify` knows. Which of our
 * own tokens it is takes the same time for every token.
 *
 * @param sharedMayAct whether the main token, which several people may have and so stands for no person, is an admin's, as in
 *   development; else it is a viewer's
 */
export function createOperators(
  operatorToken: string,
  named: readonly NamedOperator[] = [],
  sharedMayAct = true,
  verify?: IdentifyToken,
): Operators {
  const known: readonly NamedOperator[] = [
    { name: MAIN_OPERATOR, role: sharedMayAct ? 'admin' : 'viewer', tokenHash: sha256(operatorToken) },
    ...named,
  ];
  return {
    identify: async (token) => {
      const hash = sha256(token);
      let identified: CallerView | undefined;
      // Every hash is compared, so that the time does not reveal which one matched.
      for (const { name, role, tokenHash } of known)
        if (timingSafeEqual(tokenHash, hash)) identified = { name, role };
      if (identified) return accept(identified);
      if (!verify) return refuseToken('the operator token is wrong');
      const verified = await verify(token);
      // Whoever may choose their name at the issuer could else be a second one of our operators, or stand for one.
      const isTaken = verified.ok && known.some(({ name }) => name === verified.value.name);
      return isTaken
        ? refuseToken(`${verified.value.name} is an operator with a token of their own`)
        : verified;
    },
  };
}

/** Whether somebody who acts for themselves may have this name; whom the issuer has, only the issuer knows. */
export function mayBeOperator(
  config: {
    readonly NODE_ENV: string;
    readonly OPERATORS: readonly NamedOperator[];
    readonly OPERATORS_ISSUER?: string | undefined;
  },
  name: string,
): boolean {
  if (name === MAIN_OPERATOR) return config.NODE_ENV !== 'production';
  const isNamed = config.OPERATORS.some((one) => one.name === name);
  return isNamed || (config.OPERATORS_ISSUER !== undefined && readOperatorName(name) === name);
}

/** Stores the calling operator for the routes. */
export function setOperator(context: Context, caller: CallerView): void {
  context.set(CONTEXT_KEY, caller);
}

/** The name of the calling operator; throws on a route outside the guard. */
export function operatorOf(context: Context): string {
  return callerOf(context).name;
}

/** The calling operator; throws on a route outside the guard. */
export function callerOf(context: Context): CallerView {
  const caller = context.get(CONTEXT_KEY) as CallerView | undefined;
  if (caller) return caller;
  throw new TypeError('this route is not behind the operator token');
}

/** The refusal of an operator whose role is less than what is needed. */
export function lackingRole(
  { name, role }: CallerView,
  needed: OperatorRole,
): { readonly code: 'role_required'; readonly message: string } | undefined {
  if (includesRole(role, needed)) return undefined;
  const remedy = name === MAIN_OPERATOR ? 'use the token of an operator of OPERATORS' : 'ask one who has it';
  return {
    code: 'role_required',
    message: `this takes the role ${needed}, and ${name} is ${role}: ${remedy}`,
  };
}
