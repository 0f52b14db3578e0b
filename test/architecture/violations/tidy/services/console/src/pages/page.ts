import { html, raw } from 'hono/html';

export const unescaped = (name: string): unknown => html`<p>${raw(name)}</p>`;
export const styled = html`<p style="color: red"></p>`;
export const handled = html`<a href="/" onclick="go()">x</a>`;
export const loading = html`<p hx-get="/"></p>`;
export const attributes = { 'hx-trigger': 'load' };
export const asked = (header: (name: string) => string): boolean => header('hx-request') === 'true';
