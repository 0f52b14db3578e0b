import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Messaging, OutgoingEvent, openDatabase, Transaction } from '@pesewa/messaging';

type Database = Awaited<ReturnType<typeof openDatabase>>;
type Answer = (response: ServerResponse) => void;
interface Seen {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A merchant's endpoint that gives the listed answers in order and then repeats the last one. */
export async function openEndpoint() {
  const seen: Seen[] = [];
  let answers: readonly Answer[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const answer = answers[Math.min(seen.length, answers.length - 1)];
      seen.push({ path: request.url, headers: request.headers, body });
      answer?.(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  return {
    origin,
    seen,
    answering: (...list: readonly Answer[]) => {
      answers = list;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Makes an answer with a status and headers, and without a body. */
export const status = (code: number, headers: Record<string, string> = {}): Answer => {
  return (response) => void response.writeHead(code, headers).end();
};

/** A group commit with one transaction per item, and the committed events. */
export function createTransactions(client: Database['client']) {
  const committed: OutgoingEvent[] = [];
  const inTransaction = async <Value>(work: (transaction: Transaction) => Promise<Value>): Promise<Value> => {
    let events: OutgoingEvent[] = [];
    let actions: (() => void)[] = [];
    const value = await client.withSession((session) =>
      session.withTransaction(() => {
        events = [];
        actions = [];
        return work({
          session,
          emit: (event) => void events.push(event),
          afterCommit: (action) => void actions.push(action),
          afterRollback: () => undefined,
        });
      }),
    );
    committed.push(...events);
    for (const action of actions) action();
    return value;
  };
  const groupCommit: Messaging['groupCommit'] = (_name, apply) => ({
    submit: async (item) => {
      const [outcome] = await inTransaction((transaction) => apply([item], transaction, false));
      if (outcome === undefined) throw new Error('an outcome is missing');
      return outcome;
    },
  });
  return { committed, inTransaction, groupCommit };
}
