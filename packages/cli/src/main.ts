import { createNameResolver } from '@pesewa/addresses';
import { auditLedger, CheckpointError } from '@pesewa/audit';
import { createDirectoryAdmin } from '@pesewa/directory';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { openDatabase, prepareTopics } from '@pesewa/messaging';
import { exchangeHttp } from '@pesewa/operator-client';
import { createCheckpointFile } from './checkpoint-file.ts';
import { downloadHttp, forwardHttp } from './clients/http.ts';
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
        throw new CliError('MongoDB does not answer as a replica set: check MONGODB_URL, or start the stack');
      });
      return {
        admin: createDirectoryAdmin(database.db),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      };
    },
    exchange: exchangeHttp,
    download: downloadHttp,
    upload: uploadHttp,
    forward: forwardHttp,
    resolveName: createNameResolver(),
    prepare: (options) => prepareTopics({ ...options, topicPrefix: environment['TOPIC_PREFIX'] ?? '' }),
    audit: ({ checkpointFile, ...options }) =>
      auditLedger({
        ...options,
        ...(checkpointFile !== undefined && { checkpoints: createCheckpointFile(checkpointFile) }),
        databasePrefix: prefix,
        clock: systemClock,
      }).catch((error: unknown) => {
        if (error instanceof CheckpointError) throw new CliError(`${checkpointFile}: ${error.message}`);
        if (!(error instanceof Error) || error.name !== 'MongoServerSelectionError') throw error;
        throw new CliError('MongoDB does not answer: check MONGODB_URL, or start the stack');
      }),
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
  },
  process.argv.slice(2),
);
