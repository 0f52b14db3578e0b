import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { isDockerReachable } from './docker-engine.ts';
import { checkAddresses } from './environment.ts';
import { openInfrastructure } from './resolve.ts';

const engine = (await isDockerReachable(process.env)) && process.env['PESEWA_INFRASTRUCTURE'] !== 'local';
const reason = engine ? '' : ' (skipped: no Docker engine answers, or PESEWA_INFRASTRUCTURE is local)';

describe.skipIf(!engine)(`the Docker provider${reason}`, () => {
  test('opens all three, with transactions, and closes them', { timeout: 300_000 }, async () => {
    const infrastructure = await openInfrastructure({
      root: process.cwd(),
      provider: 'docker',
      log: () => undefined,
    });
    try {
      await checkAddresses(infrastructure.env);
      const client = new MongoClient(infrastructure.env.MONGODB_URL);
      const records = client.db('docker').collection('records');
      await client.withSession((session) =>
        session.withTransaction(() => records.insertOne({ written: true }, { session })),
      );
      expect(await records.countDocuments()).toBe(1);
      await client.close();
    } finally {
      await infrastructure[Symbol.asyncDispose]();
    }
    await expect(checkAddresses(infrastructure.env)).rejects.toThrow('no answer');
  });
});
