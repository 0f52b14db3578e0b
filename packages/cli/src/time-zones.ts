import { UTC } from '@pesewa/operator-client';
import { Option } from 'commander';
import { CliError } from './errors.ts';

/** The option of a time zone; {@link readZone} reads it. */
export const zoneOption = () =>
  new Option('--tz <zone>', 'the time zone of days, such as Africa/Nairobi; tables show times in it').default(
    UTC,
  );

/** Reads a time zone by its name in the IANA database; gives the usual spelling of the name. */
export function readZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new CliError(
      `--tz: ${text} is no time zone: write a name such as Africa/Nairobi, or leave it out for UTC`,
    );
  }
}

/** The heading of a column of times, with its zone where that is not UTC. */
export function inZone(heading: string, zone: string): string {
  return zone === UTC ? heading : `${heading} (${zone})`;
}
