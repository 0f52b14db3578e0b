import { foundation } from '@pesewa/foundation';

export const kernel = foundation;
