import { describeCollectionCrashes } from './collection-crashes.ts';
import { collectionCrashActs } from './crash-rows-collections.ts';

/** The crash after which a customer's code was passed on, and nobody knows it. */
const rows = collectionCrashActs.flat(2).filter(({ point }) => point === 'collections.complete.after-call');

describeCollectionCrashes('crash-completion', [[rows]]);
