import {
  type AnswerOf,
  type CallOf,
  type MessagingService,
  type Operation,
  requestOf,
} from '@pesewa/contracts';
import { type Caller, createCaller, readBody, requireAccepted } from '@pesewa/operator-client';
import { requireService, requireVariable, type Surroundings } from '../config.ts';
import type { CliPorts } from '../ports.ts';

/** Calls operations, and those that take or give files. */
export interface FileCaller extends Caller {
  /** Writes the answer to a file, completely or not at all. */
  readonly save: <One extends Operation>(
    service: MessagingService,
    operation: One,
    given: CallOf<One>,
    file: string,
  ) => Promise<void>;
  /** Sends a file; the request depends on its SHA-256. */
  readonly send: <One extends Operation>(
    service: MessagingService,
    operation: One,
    upload: Pick<Parameters<CliPorts['upload']>[0], 'file' | 'progress'> & {
      readonly given: (sha256: string) => CallOf<One>;
    },
  ) => Promise<AnswerOf<One>>;
}

/** Builds {@link FileCaller} over the resolved addresses; a missing one matters only when it is used. */
export function createFileCaller(
  ports: Pick<CliPorts, 'exchange' | 'download' | 'upload' | 'progress'>,
  surroundings: Surroundings,
): FileCaller {
  const addressOf = (service: MessagingService) => requireService(surroundings, service);
  const tokenFor = ({ caller }: Operation) =>
    // Without a second token the caller's own is used, because they may be the second operator.
    (caller === 'second' ? surroundings.values['PESEWA_APPROVER_TOKEN'] : undefined) ??
    requireVariable(surroundings, 'OPERATOR_TOKEN');
  return {
    ...createCaller({ exchange: ports.exchange, addressOf, tokenFor }),
    save: async (service, operation, given, file) => {
      const url = `${addressOf(service)}${requestOf(operation, given).path}`;
      const progress = (rows: number, total: number | undefined) =>
        ports.progress(`${file}: ${describeRows(rows, total)} …`);
      const saved = await ports
        .download({ url, token: tokenFor(operation), file, progress })
        .finally(() => ports.progress(''));
      requireAccepted(service, saved);
    },
    send: async (service, operation, { given, ...upload }) => {
      const urlOf = (sha256: string) => `${addressOf(service)}${requestOf(operation, given(sha256)).path}`;
      const answer = await ports.upload({ ...upload, urlOf, token: tokenFor(operation) });
      return readBody(service, operation, answer);
    },
  };
}

/** How much of a download has arrived, such as `1,234 rows`, or of a known total `1,234 of 5,000 rows (24 %)`. */
function describeRows(rows: number, total: number | undefined): string {
  const grouped = (count: number) => count.toLocaleString('en-GB');
  if (total === undefined || total === 0) return `${grouped(rows)} rows`;
  return `${grouped(rows)} of ${grouped(total)} rows (${Math.floor((rows / total) * 100)} %)`;
}
