import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { Scenario } from './scenario.ts';

/** Tests what must hold after all rows: empty outboxes, sound books, and rail wallets that agree with them. */
export function describeAftermath(aftermath: {
  readonly scenario: () => Scenario;
  /** The databases whose outboxes must be empty. */
  readonly databases: readonly string[];
  /** The kinds of the breaks that must be open, one per payment. */
  readonly breaks: readonly string[];
}): void {
  const { scenario } = aftermath;
  const database = (client: MongoClient, name: string) => client.db(`${scenario().prefix}_${name}`);
  const connect = () => MongoClient.connect(scenario().stack.runFile().mongodbUrl);

  describe('after all that', () => {
    it('every outbox record has been sent (E1)', async () => {
      await using client = await connect();
      for (const name of aftermath.databases) {
        const outbox = database(client, name).collection('outbox');
        await eventually(async () => expect([name, await outbox.countDocuments()]).toEqual([name, 0]));
      }
    });

    it('the books hold from the first entry on (L1 to L12)', async () => {
      expect(await scenario().violations()).toEqual([]);
    });

    it('the rail’s wallet agrees with our float, and people need to look at what they should (R1, R3, L13)', async () => {
      const { operator } = scenario().stack;
      await eventually(async () => {
        await operator.compare();
        const drifts = await operator.drift();
        expect(drifts.map(({ drift }) => drift)).toEqual(drifts.map(() => '0'));
      }, 60_000);
      await using client = await connect();
      const breaks = database(client, 'reconciler').collection('breaks');
      await eventually(async () => {
        const open = await breaks.find({ status: 'open' }).toArray();
        expect(open.map(({ kind }) => String(kind)).toSorted()).toEqual(aftermath.breaks.toSorted());
      });
    });
  });
}
