import type { Page } from 'playwright-core';
import { accessibilityProblems, type PageElement } from '../browser.ts';
import { type HostileWorld, hostile } from './console-hostile-world.ts';

/** Every page of the console by its pattern, and where it shows something of the world. */
export const pages: Readonly<Record<string, (world: HostileWorld) => string>> = {
  '/': () => '/',
  '/money': () => '/money',
  '/sign-in': () => '/sign-in',
  '/nothing-here': () => '/nothing-here',
  '/actions': () => '/actions',
  '/search': () => `/search?q=${encodeURIComponent(`${hostile} unknown`)}`,
  '/payments': () => '/payments',
  '/payments/:reference': ({ stuck }) => `/payments/${stuck}`,
  '/payments/:reference/cancel': ({ stuck }) => `/payments/${stuck}/cancel`,
  '/payments/:reference/decide': ({ stuck }) =>
    `/payments/${stuck}/decide?outcome=failed&note=${encodeURIComponent(hostile)}`,
  '/sandbox': () => `/sandbox?body=${encodeURIComponent(hostile)}`,
  '/sandbox/:kind/:reference': ({ sandboxPage }) => sandboxPage,
  '/webhooks': () => '/webhooks?state=delivered',
  '/webhooks/deliveries/:id': ({ delivery }) => `/webhooks/deliveries/${delivery}`,
  '/webhooks/resend': ({ delivery }) => `/webhooks/resend?pick-0=${delivery}`,
  '/webhooks/enable': () => '/webhooks/enable?merchant=demo&endpoint=payouts',
  '/webhooks/test': () => '/webhooks/test',
  '/webhooks/parked': () => '/webhooks/parked',
  '/webhooks/parked/:id': ({ parkedPage }) => parkedPage,
  '/rails': () => '/rails',
  '/rails/consumers': () => '/rails/consumers',
  '/rails/consumers/:service/:topic/:partition': ({ partitionPage }) => partitionPage,
  '/rails/pause': () => '/rails/pause?what=payouts&scope=all',
  '/rails/resume': () => '/rails/resume?what=collections&scope=merchant&name=rival',
  '/rails/:name/callbacks/:id/:what': () => '/rails/upstream/callbacks/none/redrive',
  '/rails/:name': () => '/rails/upstream',
  '/reconciliation': () => '/reconciliation',
  '/reconciliation/wallets/:rail/:currency': () => '/reconciliation/wallets/upstream/NGN',
  '/reconciliation/closes': () => '/reconciliation/closes',
  '/reconciliation/compare': () => '/reconciliation/compare',
  '/reconciliation/audits': () => '/reconciliation/audits',
  '/reconciliation/closes/new': () => '/reconciliation/closes/new',
  '/reconciliation/closes/:id': ({ close }) => `/reconciliation/closes/${close}`,
  '/reconciliation/statements': () => '/reconciliation/statements',
  '/reconciliation/statements/new': () => '/reconciliation/statements/new',
  '/reconciliation/statements/:id': ({ statementPage }) => statementPage,
  '/breaks': () => '/breaks',
  '/breaks/bulk/:act': ({ breakId }) => `/breaks/bulk/explain?pick-0=${encodeURIComponent(breakId)}`,
  '/breaks/:id': ({ breakId }) => `/breaks/${encodeURIComponent(breakId)}`,
  '/breaks/:id/:act': ({ breakId }) => `/breaks/${encodeURIComponent(breakId)}/notes`,
  '/breaks/:id/adjust': ({ breakId }) =>
    `/breaks/${encodeURIComponent(breakId)}/adjust?amount=%2B1&explanation=${encodeURIComponent(hostile)}`,
  '/approvals': () => '/approvals',
  '/approvals/orders/:id': ({ proposals }) => `/approvals/orders/${proposals.orders}`,
  '/approvals/decisions/:id': ({ proposals }) => `/approvals/decisions/${proposals.decisions}`,
  '/approvals/settings/:id': ({ proposals }) => `/approvals/settings/${proposals.settings}`,
  '/ledger': () => '/ledger',
  '/ledger/orders/new': () =>
    `/ledger/orders/new?kind=fund&merchantId=demo&currency=KES&amount=1&reason=${encodeURIComponent(hostile)}`,
  '/ledger/accounts/:account': () => '/ledger/accounts/float:upstream:NGN',
  '/merchants': () => '/merchants',
  '/merchants/:id': () => '/merchants/evil',
  '/merchants/:id/changes/:kind': () =>
    `/merchants/demo/changes/limits?shown=yes&requestsPerSecond=5&reason=${encodeURIComponent(hostile)}`,
};

/** The pages on which hostile text stands as text, besides those that say what was written in their address. */
export const pagesWithText: ReadonlySet<string> = new Set([
  '/search',
  '/payments/:reference',
  '/rails',
  '/rails/:name',
  '/rails/resume',
  '/breaks/bulk/:act',
  '/breaks/:id',
  '/approvals',
  '/approvals/orders/:id',
  '/approvals/decisions/:id',
  '/approvals/settings/:id',
  '/merchants',
  '/merchants/:id',
]);

/** What addresses of pages may have. */
const parameters =
  `q merchant reference kind status state owner rail currency olderThan from to cursor after of tab result show service operator
  object body amount explanation reason note outcome despite what scope name endpoint pick-0 done sent shown next merchantId text`.split(
    /\s+/,
  );

/** Addresses of a page in which everything that people can write is hostile. */
export function hostileAddresses(pattern: string, path: string): readonly string[] {
  const query = new URLSearchParams(Object.fromEntries(parameters.map((name) => [name, hostile]))).toString();
  const [bare = '/'] = path.split('?', 1);
  return [`${bare}?${query}`, pattern.replaceAll(/:\w+/g, encodeURIComponent(hostile))];
}

const downloads = /\/(?:export|statement\.csv)$/;

/** The paths of a page's links that are no page of {@link pages}. */
export async function unknownLinks(page: Page): Promise<readonly string[]> {
  const links = await page
    .getByRole('link')
    .evaluateAll((all: readonly PageElement[]) => all.map((one) => one.getAttribute('href')));
  const shapes = Object.keys(pages).map((pattern) => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`));
  const paths = links.flatMap((link) =>
    link?.startsWith('/') === true ? (link.split('?', 1)[0] ?? '') : [],
  );
  return paths.filter((path) => !downloads.test(path) && !shapes.some((shape) => shape.test(path)));
}

const isolating = ['bdi', 'pre', 'code', 'option', 'textarea', 'button'];
const turning = `//body//*[text()[contains(., '\u05d0') or contains(., '\u202e')]][not(${isolating
  .map((name) => `ancestor-or-self::${name}`)
  .join(' or ')})]`;

/** The elements of a page that came from text. */
export function foreignElements(page: Page): Promise<readonly string[]> {
  const foreign = page.locator('img, iframe, bdo, script:not([nonce]), [onerror]');
  return foreign.evaluateAll((all: readonly PageElement[]) => all.map(({ outerHTML }) => outerHTML));
}

/** The elements with text that may turn what stands beside it around. */
export function turningElements(page: Page): Promise<readonly string[]> {
  const found = page.locator(`xpath=${turning}`);
  return found.evaluateAll((all: readonly PageElement[]) =>
    all
      .map(({ outerHTML }) => outerHTML)
      // Where markup can't isolate, as in a title, signs do.
      .filter((text) => /[\u05d0\u202e]/.test(text.replaceAll(/\u2068[^\u2069]*\u2069/g, ''))),
  );
}

/** Unfolds what a page keeps folded. */
export async function unfold(page: Page): Promise<void> {
  await page.locator('details').evaluateAll((all: readonly PageElement[]) => {
    for (const one of all) one.setAttribute('open', '');
  });
}

/** What is wrong with how a page looks, in both themes, wide and narrow. */
export async function problemsOfLooks(page: Page): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const width of [1_280, 360]) {
    await page.setViewportSize({ width, height: 900 });
    const needed = await page.locator('html').evaluate(({ scrollWidth }: PageElement) => scrollWidth);
    if (needed > width) problems.push(`${width} px: it needs ${needed} px`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const problem of await accessibilityProblems(page))
        problems.push(`${width} px, ${colorScheme}: ${problem}`);
    }
  }
  return problems;
}
