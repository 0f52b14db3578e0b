import type { z } from 'zod';
import type { AddressName } from './config.ts';
import type { CliPorts } from './ports.ts';

/** The address of a service's operations API. */
export type ServiceAddress = Extract<AddressName, `${string}Url`> & Exclude<AddressName, NoService>;

type NoService = 'mongodbUrl' | 'schemaRegistryUrl';

/** One request to an operations API. */
export interface Question {
  readonly service: ServiceAddress;
  readonly path: string;
  /** Posted as JSON; absent means GET. */
  readonly body?: unknown;
  /** Whether the request is made with the second operator's token. */
  readonly approving?: boolean;
  /** For requests that take longer than usual. */
  readonly timeoutMs?: number;
}

/** Sends a request to an operations API and reads its answer; a refusal becomes a {@link CliError}. */
export type Ask = <Schema extends z.ZodType>(schema: Schema, question: Question) => Promise<z.output<Schema>>;

/** Sends a request to an operations API and writes its answer to a file; a refusal becomes a {@link CliError}. */
export type Download = (
  question: Pick<Question, 'service' | 'path'> & { readonly file: string },
) => Promise<void>;

/** Posts a file to an operations API and reads its answer; a refusal becomes a {@link CliError}. */
export type Upload = <Schema extends z.ZodType>(
  schema: Schema,
  request: Pick<Parameters<CliPorts['upload']>[0], 'file' | 'progress'> & {
    readonly service: ServiceAddress;
    readonly pathOf: (sha256: string) => string;
  },
) => Promise<z.output<Schema>>;
