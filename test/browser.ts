import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

import axe from 'axe-core';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** A browser that tests open pages in. */
export interface TestBrowser extends AsyncDisposable {
  /** A page with cookies of its own. */
  readonly open: (options?: BrowserContextOptions) => Promise<OpenedPage>;
}

/** A page, and what browsers complain about on it. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors of scripts, violations of the policy, dialogs and failed loads, since it was asked last. */
  readonly complaints: () => readonly string[];
}

/** What tests use of an element within a page: the types of browsers are none of ours. */
export interface PageElement {
  readonly outerHTML: string;
  readonly scrollWidth: number;
  readonly getAttribute: (name: string) => string | null;
  readonly setAttribute: (name: string, value: string) => void;
  readonly remove: () => void;
}

/** Launches the browser of `CHROMIUM_PATH`, or the one from the npm registry. */
export async function openBrowser(): Promise<TestBrowser> {
  const home = await unpacked();
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? join(home, 'chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
    env: {
      ...process.env,
      FONTCONFIG_PATH: home,
      LANG: 'en_GB.UTF-8',
      // Its own copies of NSS, where the host has none.
      LD_LIBRARY_PATH: `${process.env['LD_LIBRARY_PATH'] ?? ''}:${join(home, 'al2023', 'lib')}`,
    },
  });
  return {
    open: async (options = {}) => {
      const context = await browser.newContext({
        locale: 'en-GB',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
        viewport: { width: 1280, height: 900 },
        ...options,
      });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        // A page may answer 404, 409 or 422: its own status is for the test to look at.
        const isOwnStatus =
          message.text().startsWith('Failed to load') && message.location().url === page.url();
        if (message.type() === 'error' && !isOwnStatus) complaints.push(message.text());
      });
      page.on('dialog', (dialog) => {
        complaints.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      return { page, complaints: () => complaints.splice(0) };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** What axe finds wrong with a page by WCAG 2.2 AA, each with where it is. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  const found = await page.evaluate(async (values) => {
    const runner = (globalThis as unknown as { readonly axe: typeof axe }).axe;
    const { violations } = await runner.run({ runOnly: { type: 'tag', values } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => String(target)).join(' ')}`);
  }, tags);
  return found;
}

/** The folder of the browser, its fonts and its libraries; unpacked once, and whole or not at all. */
async function unpacked(): Promise<string> {
  const packed = fileURLToPath(new URL('../../bin', import.meta.resolve('@sparticuz/chromium')));
  const cache = join(import.meta.dirname, '..', '.pesewa', 'browser');
  const home = join(cache, 'chromium-147');
  if (await exists(join(home, 'chromium'))) return home;
  await mkdir(cache, { recursive: true });
  const partial = await mkdtemp(join(cache, 'partial-'));
  await unpack(join(packed, 'chromium.br'), join(partial, 'chromium'), 0o700);
  for (const name of ['fonts', 'al2023']) {
    const tar = join(partial, `${name}.tar`);
    await unpack(join(packed, `${name}.tar.br`), tar, 0o600);
    const into = join(partial, name);
    await mkdir(into);
    const { status, stderr } = spawnSync('tar', ['-xf', tar, '-C', into]);
    if (status !== 0) throw new Error(`tar: ${String(stderr)}`);
    await rm(tar);
  }
  await writeFile(
    join(partial, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${join(home, 'fonts')}</dir></fontconfig>`,
  );
  try {
    await rename(partial, home);
  } catch (error) {
    // Another process was faster.
    await rm(partial, { recursive: true });
    if (!(await exists(join(home, 'chromium')))) throw error;
  }
  return home;
}

async function unpack(from: string, to: string, mode: number): Promise<void> {
  await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to, { mode }));
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
