import { openStack } from '@pesewa/stack';

export const kind = typeof openStack;
