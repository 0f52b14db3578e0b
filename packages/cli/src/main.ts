import { auditLedger } from '@pesewa/audit';
import { createDirectoryAdmin } from '@pesewa/directory';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { openDatabase, prepareTopics } from '@pesewa/messaging';
import { downloadHttp, exchangeHttp } from './clients/http.ts';
import { uploadHttp } from './clients/upload.ts';
import { environment } from './config.ts';
import { CliError } from './errors.ts';
import { runProgram } from './program.ts';

const prefix = environment['DATABASE_PREFIX'] ?? '';

process.exitCode = await runProgram(
  {
    environment,
    print: (text) => void process.stdout.write(text),
    printError: (text) => void process.stderr.write(text),
    progress: process.stderr.isTTY
      ? (text) => void process.stderr.write(`\r\u001b[K${text}`)
      : () => undefined,
    colours: process.stdout.isTTY && environment['NO_COLOR'] === undefined,
    openDirectory: async (url) => {
      const database = await openDatabase({
        url,
        database: `${prefix}directory`,
        appName: 'pesewa-cli',
      }).catch(() => {
        throw new CliError(
          'MongoDB does not answer as a replica set: check --mongodb-url, or start the stack',
        );
      });
      return {
        admin: createDirectoryAdmin(database.db),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
    exchange: exchangeHttp,
    download: downloadHttp,
    upload: uploadHttp,
    prepare: (options) => prepareTopics({ ...options, topicPrefix: environment['TOPIC_PREFIX'] ?? '' }),
    audit: (options) =>
      auditLedger({ ...options, databasePrefix: prefix, clock: systemClock }).catch((error: unknown) => {
        if (!(error instanceof Error) || error.name !== 'MongoServerSelectionError') throw error;
        throw new CliError('MongoDB does not answer: check --mongodb-url, or start the stack');
      }),
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
  },
  process.argv.slice(2),
);
