import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** The pages that docs/console.md shows, in its order. */
export const pictures = [
  'today',
  'payment',
  'break',
  'approval',
  'wallet',
  'statement',
  'account',
  'webhook',
  'merchant',
  'rail',
  'sandbox',
] as const;

const docs = join(import.meta.dirname, '..', '..', 'docs');
const BYTES_MAX = 80 * 1_024;
/** Of the pictures, in percent. */
const QUALITY = 60;

/**
 * Expects that docs/console.md has a small picture of a page in both themes; `npm run docs:console` takes them anew, of
 * the page at this path.
 */
export async function expectPicture(page: Page, name: string, path: string): Promise<void> {
  const document = await readFile(join(docs, 'console.md'), 'utf8');
  for (const colorScheme of ['light', 'dark'] as const) {
    const file = `console/${name}-${colorScheme}.webp`;
    if (process.env['PESEWA_PICTURES'] !== undefined) {
      await page.emulateMedia({ colorScheme });
      await page.goto(path, { waitUntil: 'networkidle' });
      await takePicture(page, join(docs, file));
    }
    expect(document).toContain(`(${file})`);
    expect((await stat(join(docs, file))).size).toBeLessThan(BYTES_MAX);
  }
}

async function takePicture(page: Page, file: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const picture = { format: 'webp', quality: QUALITY } as const;
  const { data } = await devtools.send('Page.captureScreenshot', picture);
  await devtools.detach();
  await mkdir(join(docs, 'console'), { recursive: true });
  await writeFile(file, Buffer.from(data, 'base64'));
}
