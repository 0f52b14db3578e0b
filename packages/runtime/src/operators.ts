import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { z } from 'zod';

/** A person or program that may use the operator APIs, identified by the hash of a token. */
export interface NamedOperator {
  readonly name: string;
  /** SHA-256 of the token, 32 bytes. */
  readonly tokenHash: Uint8Array;
}

/** Finds the owner of a token. */
export interface Operators {
  /** The operator's name; undefined for an unknown token. Takes the same time for every token. */
  readonly identify: (token: string) => string | undefined;
  /** Whether the operator of this name may do more than look (ADR 17). */
  readonly mayAct: (name: string) => boolean;
}

/** The name that goes with `OPERATOR_TOKEN`. */
const MAIN_OPERATOR = 'operator';

const ENTRY = /^([a-z][a-z0-9-]{1,31}):([0-9a-f]{64})$/;
const CONTEXT_KEY = 'pesewa.operator';

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** The hash that a script makes of a variable that is not set. */
const EMPTY_HASH = createHash('sha256').digest('hex');

/**
 * The operators in addition to that of `OPERATOR_TOKEN`, from `name:hash,name:hash` (ADR 17).
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
      const [, name = '', hash = ''] = ENTRY.exec(entry) ?? [];
      if (name === '') {
        return printError(
          "must be name:hash, the name 2 to 32 of a-z, 0-9 and -, the hash its token's SHA-256 in hex",
        );
      }
      if (name === MAIN_OPERATOR) return printError(`must not be called ${name}: OPERATOR_TOKEN is theirs`);
      if (hash === EMPTY_HASH) return printError('has the hash of an empty token: hash the token itself');
      if (seen.has(name)) return printError(`names ${name} again`);
      if (seen.has(hash)) return printError(`has the token of another entry: each operator needs their own`);
      seen.add(name).add(hash);
      return [{ name, tokenHash: Uint8Array.from(Buffer.from(hash, 'hex')) }];
    });
  });

/** What is wrong with the operators as a whole, if anything: the main token must not belong to a named operator too. */
export function operatorsProblem(config: {
  readonly OPERATOR_TOKEN: string;
  readonly OPERATORS: readonly NamedOperator[];
}): string | undefined {
  const main = sha256(config.OPERATOR_TOKEN);
  const shared = config.OPERATORS.find(({ tokenHash }) => timingSafeEqual(tokenHash, main));
  return shared && `OPERATORS: ${shared.name} has the token of OPERATOR_TOKEN: each operator needs their own`;
}

/**
 * Builds {@link Operators}: `operator` for the main token, and the named ones.
 *
 * @param sharedMayAct whether the main token, which several people may have and so stands for no person, may do more than
 *   look: only in development
 */
export function createOperators(
  operatorToken: string,
  named: readonly NamedOperator[] = [],
  sharedMayAct = true,
): Operators {
  const known: readonly NamedOperator[] = [
    { name: MAIN_OPERATOR, tokenHash: sha256(operatorToken) },
    ...named,
  ];
  return {
    identify: (token) => {
      const hash = sha256(token);
      let identified: string | undefined;
      // Every hash is compared, so that the time does not reveal which one matched.
      for (const { name, tokenHash } of known) if (timingSafeEqual(tokenHash, hash)) identified = name;
      return identified;
    },
    mayAct: (name) => sharedMayAct || name !== MAIN_OPERATOR,
  };
}

/** Stores the operator's name for the routes. */
export function setOperator(context: Context, name: string): void {
  context.set(CONTEXT_KEY, name);
}

/** The name of the calling operator; throws on a route outside the guard. */
export function operatorOf(context: Context): string {
  const name: unknown = context.get(CONTEXT_KEY);
  if (typeof name === 'string') return name;
  throw new TypeError('this route is not behind the operator token');
}
