import { type Caller, createCaller, exchangeHttp } from '@pesewa/operator-client';
import { eventually } from '@pesewa/testkit';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type OpenedPage, openBrowser } from '../browser.ts';
import { openCompactScenario, type Scenario } from './scenario.ts';

/** The two operators of a development stack. */
export type OperatorName = 'operator' | 'approver';

/** An operator in a browser of their own, signed in. */
export interface Person extends OpenedPage {
  readonly main: Locator;
  /** Follows the first link in the page's main part with this text. */
  readonly follow: (name: string | RegExp) => Promise<void>;
  /** Presses the first button in the page's main part with this text. */
  readonly press: (name: string | RegExp) => Promise<void>;
  /** Presses it, and waits for the page that it leads to. */
  readonly submit: (name: string | RegExp) => Promise<void>;
  /** Fills the field with this label. */
  readonly fill: (label: string, text: string) => Promise<void>;
  /** Waits until the heading of the page contains this. */
  readonly arrivesAt: (heading: string | RegExp) => Promise<void>;
  /** Waits until the page shows a text. */
  readonly sees: (text: string | RegExp) => Promise<void>;
}

/** A stack with its console, and a browser. */
export interface ConsoleScenario extends Scenario {
  readonly url: string;
  readonly tokenOf: (name: OperatorName) => string;
  /** A page that nobody has signed in on. */
  readonly open: (options?: BrowserContextOptions) => Promise<Person>;
  readonly signIn: (name: OperatorName, options?: BrowserContextOptions) => Promise<Person>;
  /** The operator APIs as the operator calls them. */
  readonly call: Caller['call'];
  /** Asks for a payout of 100, which the rail ends as these four digits say. */
  readonly pay: (
    label: string,
    digits: string,
    terms?: { readonly currency: string; readonly country: string },
  ) => Promise<{ readonly reference: string; readonly ours: string }>;
  /** Asks for a payout that its rail never ends, and waits for its break. */
  readonly payForEver: (
    label: string,
  ) => Promise<{ readonly ours: string; readonly breakId: string; readonly detail: string }>;
  /** Fails if browsers have complained about anything on any page since it was asked last. */
  readonly expectNoComplaints: () => void;
}

/** Opens a stack as {@link openCompactScenario} does, and a browser for its console. */
export async function openConsoleScenario(
  name: string,
  environment: Parameters<typeof openCompactScenario>[1] = {},
): Promise<ConsoleScenario> {
  await using opened = new AsyncDisposableStack();
  const scenario = opened.use(await openCompactScenario(name, environment));
  const browser = opened.use(await openBrowser());
  const { consoleUrl: url = '', operations, operatorToken, approverToken } = scenario.stack.runFile();
  const tokenOf = (who: OperatorName) => (who === 'operator' ? operatorToken : approverToken);
  const people: OpenedPage[] = [];
  const open: ConsoleScenario['open'] = async (options) => {
    const person = personOf(await browser.open({ baseURL: url, ...options }));
    people.push(person);
    return person;
  };
  const pay: ConsoleScenario['pay'] = async (
    label,
    digits,
    terms = { currency: 'NGN', country: 'Nigeria' },
  ) => {
    const reference = scenario.reference(label);
    const payout = { ...terms, reference, amount: '100', accountNumber: `012345${digits}` };
    const { responseData } = await scenario.demo.requestPayout(payout);
    return { reference, ours: responseData?.transactionReference ?? '' };
  };
  const resources = opened.move();
  return {
    ...scenario,
    url,
    tokenOf,
    open,
    signIn: async (who, options) => {
      const person = await open(options);
      await person.page.goto('/sign-in');
      await signInOn(person.page, tokenOf(who));
      return person;
    },
    call: createCaller({
      exchange: exchangeHttp,
      addressOf: (service) => operations[service] ?? '',
      tokenFor: () => operatorToken,
    }).call,
    pay,
    payForEver: async (label) => {
      const { ours } = await pay(label, '0017');
      return eventually(async () => {
        const found = await scenario.stack.operator.breaks(ours);
        expect(found).toMatchObject([{ kind: 'payment.stuck' }]);
        return { ours, breakId: found[0]?.id ?? '', detail: found[0]?.detail ?? '' };
      });
    },
    expectNoComplaints: () => expect(people.flatMap(({ complaints }) => complaints())).toEqual([]),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Signs in on the page that asks for a token, and waits for the page that it leads to. */
export async function signInOn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Your operator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Longer than a click may wait for what it clicks. */
const LOADED_MS = 30_000;

function personOf(opened: OpenedPage): Person {
  const { page } = opened;
  const main = page.getByRole('main');
  const shown = async (wanted: Locator) => {
    try {
      await wanted.waitFor();
    } catch (error) {
      throw new Error(`${page.url()} shows: ${await main.innerText()}`, { cause: error });
    }
  };
  const press: Person['press'] = (name) => main.getByRole('button', { name }).first().click();
  // What is on the page that is left must not be taken for what is on the next one.
  const untilLoaded = async (click: () => Promise<void>) => {
    const loaded = page.waitForEvent('load', { timeout: LOADED_MS });
    // What can't be clicked says more than what is not loaded then.
    loaded.catch(() => undefined);
    await click();
    await loaded;
  };
  return {
    ...opened,
    main,
    follow: (name) => untilLoaded(() => main.getByRole('link', { name }).first().click()),
    press,
    submit: (name) => untilLoaded(() => press(name)),
    fill: (label, text) => main.getByLabel(label, { exact: true }).first().fill(text),
    arrivesAt: (heading) => shown(page.getByRole('heading', { level: 1, name: heading })),
    sees: (text) => shown(main.getByText(text).filter({ visible: true }).first()),
  };
}

/** A setting of the reconciler with which two polls without an end make a payment stuck, within a second. */
export const soonStuck = {
  FIRST_POLL_AFTER_MS: '300',
  POLL_BASE_MS: '300',
  POLLS_BEFORE_BREAK: '2',
} as const;

/** Loads a page again until it shows something. */
export async function reloadUntil(page: Page, wanted: Locator): Promise<void> {
  await eventually(async () => {
    await page.reload();
    expect(await wanted.count()).toBeGreaterThan(0);
  });
}

/** How the statements of these tests are written. */
const mapping = {
  columns: { reference: 'Reference', railReference: 'Receipt', amount: 'Amount', time: 'Time' },
  time: { format: 'ISO' },
  holds: 'payouts',
};

/** Chooses a file of payouts on the page that sends statements, and fills in how it is read. */
export async function chooseStatement(
  { page, fill }: Person,
  currency: string,
  lines: readonly (readonly [reference: string, receipt: string, amount: string, time: string])[],
): Promise<void> {
  const cells = [Object.values(mapping.columns), ...lines];
  const quoted = cells.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','));
  const buffer = Buffer.from(`${quoted.join('\r\n')}\r\n`);
  await page.goto('/reconciliation/statements/new');
  await page.getByLabel('File (CSV)').setInputFiles({ name: 'statement.csv', mimeType: 'text/csv', buffer });
  await page.getByText('All of it in JSON, for experts').click();
  await fill('Mapping in JSON', JSON.stringify(mapping));
  await fill('Currency, if no column has it', currency);
}
