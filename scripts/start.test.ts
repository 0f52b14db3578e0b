import { expect, it } from 'vitest';
import { describeRun } from './start.ts';

const nowhere = 'http://127.0.0.1:9';

it('says where the console is, and with which tokens two people sign in', () => {
  const said = describeRun({
    consoleUrl: 'http://127.0.0.1:4080',
    transferUrl: nowhere,
    collectionsUrl: nowhere,
    ingressUrl: nowhere,
    simulatorUrl: nowhere,
    operations: { ledger: nowhere },
    operatorToken: 'a-token-of-this-test',
    approverToken: 'another-token-of-this-test',
    rails: [],
    mongodbUrl: 'mongodb://127.0.0.1:9',
    kafkaBrokers: [],
    schemaRegistryUrl: nowhere,
    pids: {},
    merchants: [],
  });
  expect(said).toMatch(/^Console +http:\/\/127\.0\.0\.1:4080: .*\boperatorToken\b.*\bapproverToken\b/m);
});
