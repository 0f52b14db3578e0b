import { harness } from '@pesewa/harness';

export const command = harness;
