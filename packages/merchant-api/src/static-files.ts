import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';

/** The files of one directory of a package, served unchanged. */
export interface StaticFiles {
  readonly has: (name: string) => boolean;
  /** Answers with the file; the name must be one that the directory has. */
  readonly answer: (context: Context, name: string) => Promise<Response>;
}

/** Opens a directory of an installed package; only file names that it has now are ever read. */
export function openPackageFiles(options: {
  /** The address of the package's `package.json`. */
  readonly manifestUrl: string;
  readonly directory: string;
  readonly only?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}): StaticFiles {
  const root = dirname(fileURLToPath(options.manifestUrl));
  const directory = join(root, options.directory);
  const names = new Set(options.only ?? readdirSync(directory));
  return {
    has: (name) => names.has(name),
    answer: async (context, name) =>
      context.newResponse(new Uint8Array(await readFile(join(directory, name))), 200, {
        'content-type': contentTypeOf(name),
        'x-content-type-options': 'nosniff',
        ...options.headers,
      }),
  };
}

function contentTypeOf(name: string): string {
  if (name.endsWith('.svg')) return 'image/svg+xml';
  if (name.endsWith('.css')) return 'text/css; charset=UTF-8';
  if (name.endsWith('.js')) return 'text/javascript; charset=UTF-8';
  return 'application/octet-stream';
}
