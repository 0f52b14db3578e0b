import { ClientError } from '@pesewa/operator-client';

/** A command that can't be carried out; its one line names the field or address and the remedy. */
export class CliError extends ClientError {
  override readonly name = 'CliError';
}
