import { two } from '@pesewa/two';
import { kernel } from '@pesewa/kernel';
import { zod } from 'undeclared-package';
import { inside } from '../../two/src/inside.ts';

export const one = [kernel, two, zod, inside];
