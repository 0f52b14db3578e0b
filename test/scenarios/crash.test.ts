import { crashSequences } from './crash-rows.ts';
import { describePayoutCrashes } from './payout-crashes.ts';

describePayoutCrashes('crash', crashSequences);
