import { servedCountries } from '@pesewa/contracts';
import { createDirectoryAdmin, type NewMerchant } from '@pesewa/directory';
import { StartError } from '@pesewa/infrastructure';
import type { FeeSchedule } from '@pesewa/kernel';
import { openDatabase } from '@pesewa/messaging';
import type { OperatorClient } from '../clients/operator.ts';
import type { SimulatorClient } from '../clients/simulator.ts';
import { SIMULATOR_RAIL } from './simulator-rail.ts';

/** A merchant that the stack is seeded with. */
export interface SeededMerchant {
  readonly id: string;
  /** Of both APIs. */
  readonly publicKey: string;
  readonly webhookSecret: string;
}

/** The first seeded merchant, whose key and secret are the same in every stack. */
export const demoMerchant: SeededMerchant = {
  id: 'demo',
  publicKey: 'demo-public-key-for-development',
  webhookSecret: `whsec_${Buffer.from('demo-webhook-secret-for-development').toString('base64')}`,
};

/** The wallets of the demonstration: one for each country. */
export const demoWallets = Object.values(servedCountries).map(({ code, currency }) => ({
  currency,
  country: code,
}));

interface Profile extends Pick<NewMerchant, 'id' | 'publicKey' | 'webhookSecret'> {
  readonly name: string;
  readonly payoutFee: FeeSchedule;
  readonly collectionFee: FeeSchedule;
  readonly limits: NewMerchant['limits'];
  /** The initial funding of each wallet, as a decimal string in major units. */
  readonly funding: string;
}

const profiles: readonly Profile[] = [
  {
    ...demoMerchant,
    name: 'Demo Merchant',
    payoutFee: { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 1n },
    collectionFee: { fixedMinor: 0n, basisPoints: 150n, minimumMinor: 1n },
    limits: { requestsPerSecond: 1_000_000, collectionsPerNumberPerHour: 1_000_000 },
    funding: '1000000',
  },
  {
    id: 'rival',
    publicKey: 'rival-public-key-for-development',
    name: 'Rival Merchant',
    payoutFee: { fixedMinor: 50n, basisPoints: 200n, minimumMinor: 100n, maximumMinor: 10_000n },
    collectionFee: { fixedMinor: 0n, basisPoints: 250n, minimumMinor: 1n },
    limits: { requestsPerSecond: 50 },
    funding: '1000',
  },
];

/**
 * Seeds merchants, wallets and floats, the floats with the balances of the simulator's wallets. A second run makes
 * new secrets, except that of the merchant `demo`.
 */
export async function seed(options: {
  readonly mongodbUrl: string;
  readonly databasePrefix: string;
  readonly simulatorUrl: string;
  readonly simulator: SimulatorClient;
  readonly operator: OperatorClient;
}): Promise<readonly SeededMerchant[]> {
  const merchants = await seedDirectory(options);
  const commands: Promise<string>[] = [];
  for (const { currency, balance } of await options.simulator.wallets()) {
    const id = `seed-float-${currency}`;
    // What was seeded at an earlier start has moved since, and the simulator's wallet with it.
    if (await options.operator.hasOrder(id)) continue;
    commands.push(
      options.operator.fundFloat({ commandId: id, rail: SIMULATOR_RAIL, currency, amount: balance }),
    );
  }
  for (const { id: merchantId, funding } of profiles) {
    for (const { currency } of demoWallets) {
      const id = `seed-${merchantId}-${currency}`;
      commands.push(options.operator.fundWallet({ commandId: id, merchantId, currency, amount: funding }));
    }
  }
  await options.operator.untilApplied(await Promise.all(commands));
  return merchants;
}

/** Writes the merchants of the demonstration into the directory. */
export async function seedDirectory(options: {
  readonly mongodbUrl: string;
  readonly databasePrefix: string;
  readonly simulatorUrl: string;
}): Promise<readonly SeededMerchant[]> {
  await using database = await openDatabase({
    url: options.mongodbUrl,
    database: `${options.databasePrefix}directory`,
    appName: 'pesewa-seed',
  });
  const admin = createDirectoryAdmin(database.db);
  await admin.ensureIndexes();
  const seeded: SeededMerchant[] = [];
  for (const profile of profiles) {
    await database.db.collection<{ _id: string }>('merchants').deleteOne({ _id: profile.id });
    const created = await admin.createMerchant(merchantOf(profile, options.simulatorUrl));
    if (!created.ok)
      throw new StartError(`cannot seed the merchant ${profile.id}: ${created.refusal.message}`);
    const { publicKeys, webhookSecret } = created.value;
    seeded.push({ id: profile.id, publicKey: publicKeys.payouts, webhookSecret });
  }
  return seeded;
}

function merchantOf(profile: Profile, simulatorUrl: string): NewMerchant {
  const { payoutFee, collectionFee } = profile;
  return {
    id: profile.id,
    name: profile.name,
    publicKey: profile.publicKey,
    webhookSecret: profile.webhookSecret,
    wallets: demoWallets.map((wallet) => ({ ...wallet, payoutFee, collectionFee })),
    payoutsUrl: `${simulatorUrl}/merchant/${profile.id}/payouts`,
    collectionsUrl: `${simulatorUrl}/merchant/${profile.id}/collections`,
    limits: profile.limits,
  };
}
