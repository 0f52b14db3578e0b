// Prints the settings of the samples for the stack that `npm start` runs; call it in the folder of the checkout:
// eval "$(node docs/api/samples/development.mjs)"
import { readFileSync } from 'node:fs';

let run;
try {
  run = JSON.parse(readFileSync('.pesewa/run.json', 'utf8'));
} catch (error) {
  console.error(`Nothing runs here (${error.message}): start everything with \`npm start\`.`);
  process.exit(1);
}
const demo = run.merchants.find(({ id }) => id === 'demo');
const settings = {
  PAYOUT_API: run.transferUrl,
  COLLECTION_API: run.collectionsUrl,
  CALLBACKS: run.ingressUrl,
  SIMULATOR: run.simulatorUrl,
  PUBLIC_KEY: demo.publicKey,
  WEBHOOK_SECRET: demo.webhookSecret,
};
for (const [name, value] of Object.entries(settings)) console.log(`export ${name}='${value}'`);
