import { randomBytes } from 'node:crypto';
import { services } from '@pesewa/contracts';
import { StartError } from '@pesewa/infrastructure';
import { createMerchantClient } from '../clients/merchant.ts';
import { createOperatorClient } from '../clients/operator.ts';
import { createSimulatorClient } from '../clients/simulator.ts';
import { waitUntilPayable } from '../services/gateway-readiness.ts';
import { seed, seedDirectory } from '../services/seed.ts';
import { operationsUrl, publicUrl } from '../services/settings.ts';
import { runDemo } from './demo.ts';

/** Runs the demo on an installation that runs already, on the usual ports of this machine; the first time it seeds it. */
export async function runDemoOnRunning(options: {
  readonly mongodbUrl: string;
  /** How the services reach the simulator. */
  readonly simulatorUrl: string;
  readonly operatorToken: string;
  readonly approverToken: string;
  readonly print: (line: string) => void;
}): Promise<void> {
  const { mongodbUrl, simulatorUrl, operatorToken: token, approverToken, print } = options;
  const places = { ports: services };
  const simulator = createSimulatorClient(publicUrl(places, 'provider-simulator'));
  const operator = createOperatorClient({
    token,
    approverToken,
    operations: {
      ledger: operationsUrl(places, 'ledger'),
      reconciler: operationsUrl(places, 'reconciler'),
      'webhook-dispatcher': operationsUrl(places, 'webhook-dispatcher'),
    },
  });
  const directory = { mongodbUrl, databasePrefix: '', simulatorUrl };
  // The balances of the rail's wallets change with every payment, so the float is funded only once.
  const isFunded = await operator.wallet('demo', 'NGN').then(
    () => true,
    () => false,
  );
  const merchants = isFunded
    ? await seedDirectory(directory)
    : await seed({ ...directory, simulator, operator });
  const transferUrl = publicUrl(places, 'payout-gateway');
  await waitUntilPayable(transferUrl, merchants);
  const [demo] = merchants;
  if (!demo) throw new StartError('the merchant demo is missing');
  const collectionsUrl = publicUrl(places, 'collection-gateway');
  const merchant = createMerchantClient({ transferUrl, collectionsUrl, publicKey: demo.publicKey });
  const run = randomBytes(4).toString('hex');
  await runDemo({ stack: { simulator, operator }, merchant, merchantId: demo.id, run, print });
}
