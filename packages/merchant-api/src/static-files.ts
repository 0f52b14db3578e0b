import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';

/** Serves the files of a directory of an installed package unchanged; only file names that it has now are ever read. */
export function openPackageFiles(options: {
  /** The address of the package's `package.json`. */
  readonly manifestUrl: string;
  readonly directory: string;
  readonly only?: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}) {
  const root = dirname(fileURLToPath(options.manifestUrl));
  const directory = join(root, options.directory);
  const names = new Set(options.only ?? readdirSync(directory));
  return {
    has: (name: string) => names.has(name),
    /** Answers with the file; the name must be one that the directory has. */
    answer: async (context: Context, name: string): Promise<Response> =>
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
