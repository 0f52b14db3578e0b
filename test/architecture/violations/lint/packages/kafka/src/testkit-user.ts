import { given } from '@pesewa/testkit';

export const kind = typeof given;
