import { createHash } from 'node:crypto';
import { createOperators, guardOperator } from '@pesewa/runtime';
import type { Hono } from 'hono';
import type { Targets } from './targets.ts';

/** Accepts every name. */
export const anyTarget: Targets = { whyUnknown: () => Promise.resolve(undefined) };

/** Operators with a token each, as the ledger's operations port knows them. */
export interface TestOperators {
  /** Sends a request in an operator's name; with a body it is a POST. */
  readonly as: (name: 'operator' | 'checker', path: string, body?: object) => Promise<Response>;
  /** Proposes as one and approves as the other operator; gives the answer to the proposal. */
  readonly order: (
    kind: string,
    body: Readonly<Record<string, string>> & { readonly commandId: string },
  ) => Promise<Response>;
}

const tokens = { operator: 'token-of-the-operator', checker: 'token-of-the-checker' } as const;

/** Puts the ledger's operator API behind two operators' tokens. */
export function openTestOperators(app: Hono): TestOperators {
  const tokenHash = Uint8Array.from(createHash('sha256').update(tokens.checker).digest());
  const guarded = guardOperator(
    app,
    createOperators(tokens.operator, [{ name: 'checker', role: 'approver', tokenHash }]),
  );
  const as: TestOperators['as'] = async (name, path, body) =>
    guarded.request(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokens[name]}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return {
    as,
    order: async (kind, body) => {
      const proposed = await as('operator', `/commands/${kind}`, body);
      if (proposed.status === 202) await as('checker', `/commands/${body.commandId}/approve`, {});
      return proposed;
    },
  };
}
