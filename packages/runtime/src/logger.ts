import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const personal = [
  'accountName',
  'accountNumber',
  'phoneNumber',
  'customerName',
  'customerNumber',
  'customerEmail',
  'email',
  'identificationNumber',
  'nationalIdNumber',
  'otpCode',
  'authorization',
  'x-api-key',
  'x-business',
  'x-module',
  'publicKey',
  'secret',
  'token',
  'password',
  'body',
];

/** The paths that pino hides wherever they stand in the first three levels; the second net under not logging them. */
const redactedPaths = personal.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`]);

/** A structured logger for one process; personal data and secrets are masked. */
export function createLogger(options: { readonly name: string; readonly level: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    redact: { paths: redactedPaths, censor: '[hidden]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    base: { name: options.name, pid: process.pid },
  });
}
