import { runProgram } from '@pesewa/cli';

export const kind = typeof runProgram;
