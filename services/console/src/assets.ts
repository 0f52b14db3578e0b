import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file that pages load. */
export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const own = (name: string) => new URL(`assets/${name}`, import.meta.url);
const installed = (name: string) => new URL(import.meta.resolve(name));

const files = {
  'style.css': [own('style.css'), 'text/css; charset=utf-8'],
  'htmx.js': [installed('htmx.org/dist/htmx.min.js'), 'text/javascript; charset=utf-8'],
  'hx-csp.js': [installed('htmx.org/dist/ext/hx-csp.min.js'), 'text/javascript; charset=utf-8'],
  'app.js': [own('app.js'), 'text/javascript; charset=utf-8'],
  'icon.svg': [own('icon.svg'), 'image/svg+xml'],
} as const;

/** The name of a file that pages load. */
export type AssetName = keyof typeof files;

/** Every file that pages load; its path changes with its content, so that browsers may keep it for ever. */
export const assets: Readonly<Record<AssetName, Asset>> = Object.fromEntries(
  Object.entries(files).map(([name, [url, type]]) => {
    const bytes = Uint8Array.from(readFileSync(fileURLToPath(url)));
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    return [name, { path: `/assets/${digest}/${name}`, type, bytes }];
  }),
) as unknown as Readonly<Record<AssetName, Asset>>;
