// Seeds the installation of deploy/compose and runs the demonstration on it. The tokens are those of
// deploy/compose/.env.
import path from 'node:path';
import { loadEnvFile } from 'node:process';
import { messageOf } from '@pesewa/infrastructure';
import { runDemoOnRunning } from '@pesewa/stack';
import { repositoryRoot } from './command.ts';

try {
  loadEnvFile(path.join(repositoryRoot, 'deploy', 'compose', '.env'));
  const { OPERATOR_TOKEN = '', APPROVER_TOKEN = '' } = process.env;
  await runDemoOnRunning({
    mongodbUrl: 'mongodb://127.0.0.1:27017/?directConnection=true',
    simulatorUrl: 'http://provider-simulator:4070',
    operatorToken: OPERATOR_TOKEN,
    approverToken: APPROVER_TOKEN,
    print: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write('Every pesewa accounted for.\n');
} catch (error) {
  process.stderr.write(`pesewa: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
