import { describeCollectionCrashes } from './collection-crashes.ts';
import { collectionCrashActs } from './crash-rows-collections.ts';

describeCollectionCrashes('crash-collecting', collectionCrashActs);
