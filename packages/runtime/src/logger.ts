import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

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

/** The paths that pino masks in the first three levels of any log line: a second safeguard beside not logging them. */
const redactedPaths = personal.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`]);

const MESSAGE_LENGTH_MAX = 500;
const WORD_LENGTH_MAX = 100;
const FRAME_LENGTH_MAX = 300;
const FRAMES_MAX = 30;
const LABELS_MAX = 10;
const CAUSES_MAX = 3;

/** The fields of an error that are logged. */
interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
  readonly codeName?: string;
  readonly errorLabels?: readonly string[];
  readonly cause?: LoggedError;
}

/** Drivers put whole documents, and so personal data, on their errors: only the fields named here are ever logged. */
function describeError(error: unknown, causesLeft = CAUSES_MAX): LoggedError {
  if (typeof error !== 'object' || error === null) {
    return { type: typeof error, message: typeof error === 'string' ? safeMessage(error) : '' };
  }
  const { code, codeName, errorLabels, cause }: Record<string, unknown> = Object.fromEntries(
    ['code', 'codeName', 'errorLabels', 'cause'].map((field) => [field, Reflect.get(error, field)]),
  );
  const type = error.constructor?.name ?? 'Object';
  const message = safeMessage(Reflect.get(error, 'message'));
  const stack = error instanceof Error ? framesOf(error) : '';
  return {
    type,
    message,
    ...(stack !== '' && { stack: `${type}: ${message}\n${stack}` }),
    ...(typeof code === 'number' && { code }),
    ...(typeof code === 'string' && { code: code.slice(0, WORD_LENGTH_MAX) }),
    ...(typeof codeName === 'string' && { codeName: codeName.slice(0, WORD_LENGTH_MAX) }),
    ...(Array.isArray(errorLabels) && { errorLabels: safeLabels(errorLabels) }),
    ...(cause !== undefined && causesLeft > 0 && { cause: describeError(cause, causesLeft - 1) }),
  };
}

/** A message of bounded length, without the key values that a duplicate-key error quotes. */
function safeMessage(message: unknown): string {
  if (typeof message !== 'string') return '';
  return message
    .replace(/dup key.*/is, '')
    .slice(0, MESSAGE_LENGTH_MAX)
    .trimEnd();
}

/** The frames of a stack, without its first lines, which repeat the message. */
function framesOf({ message, stack }: Error): string {
  const text = typeof stack === 'string' ? stack : '';
  const messageAt = text.indexOf(message);
  const frames = messageAt < 0 ? text : text.slice(messageAt + message.length);
  return frames
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, FRAMES_MAX)
    .map((line) => line.slice(0, FRAME_LENGTH_MAX))
    .join('\n');
}

function safeLabels(labels: readonly unknown[]): readonly string[] {
  return labels
    .filter((label) => typeof label === 'string')
    .slice(0, LABELS_MAX)
    .map((label) => label.slice(0, WORD_LENGTH_MAX));
}

/** If a line has no text, pino would use the error's full message. */
const logMethod: NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> = function logSafely(
  parameters,
  method,
) {
  const [subject, text, ...rest]: readonly unknown[] = parameters;
  const error = subject instanceof Error ? subject : errorIn(subject);
  if (error === undefined || text !== undefined) return method.apply(this, parameters);
  const fields = subject instanceof Error ? { err: subject } : subject;
  return method.apply(this, [fields, describeError(error).message, ...rest]);
};

function errorIn(subject: unknown): unknown {
  return typeof subject === 'object' && subject !== null && 'err' in subject ? subject.err : undefined;
}

/**
 * A structured logger for one process. Personal data and secrets are masked, and errors reduced to safe fields.
 *
 * Lines go to the standard output unless a destination is given.
 */
export function createLogger(
  options: { readonly name: string; readonly level: string },
  destination: DestinationStream = pino.destination(1),
): Logger {
  return pino(
    {
      name: options.name,
      level: options.level,
      redact: { paths: redactedPaths, censor: '[hidden]' },
      serializers: {
        err: (error: unknown) => describeError(error),
        error: (error: unknown) => describeError(error),
      },
      hooks: { logMethod },
      timestamp: pino.stdTimeFunctions.isoTime,
      base: { name: options.name, pid: process.pid },
    },
    destination,
  );
}
