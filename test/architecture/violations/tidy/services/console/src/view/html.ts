import { raw } from 'hono/html';

export const loads = (path: string): unknown => raw(`hx-get="${path}"`);
