// Seeds the installation of deploy/compose and runs the demonstration on it. The tokens are those of
// deploy/compose/.env.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { messageOf } from '@pesewa/infrastructure';
import { runDemoOnRunning } from '@pesewa/stack';
import { repositoryRoot } from './command.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  const file = path.join(repositoryRoot, 'deploy', 'compose', '.env');
  const { OPERATOR_TOKEN = '', APPROVER_TOKEN = '' } = parseEnv(readFileSync(file, 'utf8'));
  await runDemoOnRunning({
    mongodbUrl: 'mongodb://127.0.0.1:27017/?directConnection=true',
    simulatorUrl: 'http://provider-simulator:4070',
    operatorToken: OPERATOR_TOKEN,
    approverToken: APPROVER_TOKEN,
    print: say,
  });
  say('Every pesewa accounted for.');
} catch (error) {
  process.stderr.write(`pesewa: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
