import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { breakOperations, orderOperations, proposalOperations, settingsOperations } from '@pesewa/contracts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PageElement } from '../browser.ts';
import { type HostileWorld, hostile, makeHostileWorld } from './console-hostile-world.ts';
import {
  foreignElements,
  hostileAddresses,
  pages,
  pagesWithText,
  problemsOfLooks,
  turningElements,
  unfold,
  unknownLinks,
} from './console-pages.ts';
import {
  type ConsoleScenario,
  openConsoleScenario,
  type Person,
  signInOn,
  soonStuck,
} from './console-scenario.ts';

let scenario: ConsoleScenario;
let world: HostileWorld;
/** Who has proposed everything, and who may approve it. */
let proposer: Person;
let approver: Person;
/** On a console in which a sign-in ends after a minute, and nobody has clicked since. */
let absent: Person;
let absentUrl: string;

beforeAll(async () => {
  scenario = await openConsoleScenario('console-hostile', {
    reconciler: { ...soonStuck, CLOSE_LAG_MS: '0' },
  });
  proposer = await scenario.signIn('operator');
  approver = await scenario.signIn('approver');
  world = await makeHostileWorld(scenario, proposer);
  const brief = await scenario.stack.replicate('console', { SESSION_IDLE_MINUTES: '1' });
  absentUrl = brief.url;
  absent = await scenario.open({ baseURL: absentUrl });
  await absent.page.goto(`/sign-in?next=/payments/${world.stuck}`);
  await signInOn(absent.page, scenario.tokenOf('operator'));
});

afterEach(() => {
  scenario.expectNoComplaints();
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

const notesOf = async () => {
  const parameters = { id: world.breakId };
  const { history } = await scenario.call('reconciler', breakOperations.show, { parameters });
  return history.map(({ text }) => text);
};

describe('a form', () => {
  it.each([
    ['without the token of a sign-in', undefined],
    ['with the token of another sign-in', 'another'],
  ])('%s changes nothing', async (_, token) => {
    const { page, fill, press } = proposer;
    await page.goto(pages['/breaks/:id/:act']?.(world) ?? '');
    await fill('What is known', 'forged');
    await page.locator('input[name=csrf]').evaluateAll((all: readonly PageElement[], value) => {
      for (const field of all)
        if (value === undefined) field.remove();
        else field.setAttribute('value', value);
    }, token);
    await press(/^Note: /);
    await page.getByText('this form is of another sign-in').waitFor();
    expect(await notesOf()).not.toContain('forged');
  });

  it.each([
    ['another port of our host', '127.0.0.1'],
    ['another site', 'localhost'],
  ])('of %s changes nothing, and the sign-in goes on', async (_, host) => {
    const { page } = proposer;
    const action = `${scenario.url}/merchants/rival/changes/suspend`;
    const csrf = await page.goto('/').then(() => page.locator('input[name=csrf]').first().inputValue());
    await using server = await serveForm(action, { csrf, body: '{}' });
    await page.goto(`http://${host}:${server.port}/`);
    await page.getByRole('button', { name: 'Win' }).click();
    await page.getByText('this form is not one of ours').waitFor();
    const { items } = await scenario.call('ledger', settingsOperations.merchants, {});
    expect(items.find(({ id }) => id === 'rival')?.status).toBe('active');
    await page.goto('/');
    await proposer.arrivesAt('Today');
  });
});

/** A page of another origin with a form for ours. */
async function serveForm(action: string, fields: Readonly<Record<string, string>>) {
  const inputs = Object.entries(fields).map(
    ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
  );
  const form = `<form method="post" action="${action}">${inputs.join('')}<button>Win</button></form>`;
  const head = '<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">';
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`${head}${form}`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

describe('a proposal of my own', () => {
  it.each(['orders', 'decisions', 'settings'] as const)('of %s can only be withdrawn', async (kind) => {
    const { page, main, press, fill, sees } = proposer;
    const path = `/approvals/${kind}/${world.proposals[kind]}`;
    await page.goto(path);
    await sees('Another operator must approve what you proposed.');
    expect(await main.getByRole('button', { name: /^Approve/ }).count()).toBe(0);
    await fill('Reason', 'forged');
    const form = main.locator('form').filter({ has: page.getByRole('button', { name: /^Withdraw/ }) });
    const what = form.locator('input[name=what]');
    await what.evaluate((one: PageElement) => one.setAttribute('value', 'approve'));
    await press(/^Withdraw/);
    await main.getByRole('alert').waitFor();
    expect(await main.getByRole('alert').innerText()).toContain('Not done.');
    await page.goto(path);
    await sees('Another operator must approve what you proposed.');
  });
});

describe('two people who decide at once', () => {
  it.each([1, 2, 3])('leave one decision, and the other reads who was first (%i)', async () => {
    const body = { merchantId: 'demo', currency: 'KES', amount: '2', reason: 'Two people' };
    const { commandId } = await scenario.call('ledger', proposalOperations.fund, { body });
    const both = [proposer, approver] as const;
    await Promise.all(both.map(({ page }) => page.goto(`/approvals/orders/${commandId}`)));
    await proposer.fill('Reason', 'A slip');
    await Promise.all([proposer.press(/^Withdraw/), approver.press(/^Approve/)]);
    await Promise.all(both.map(({ sees }) => sees(/^(?:Approved by|Rejected by)$/)));
    const { rejectedBy, approvedBy } = await scenario.call('ledger', orderOperations.show, {
      parameters: { commandId },
    });
    expect([rejectedBy, approvedBy]).toContain(undefined);
    const [winner, loser] = approvedBy === undefined ? both : both.toReversed();
    const [first, second] = await Promise.all(
      [winner, loser].map((person) => person?.main.getByRole('alert').allInnerTexts()),
    );
    expect(first).toEqual([]);
    expect(second?.join()).toContain(`${approvedBy ?? rejectedBy} decided before you`);
    // A page that still moves is loaded once more when it stops, which would end the way to the next one.
    for (const { page } of both) await page.locator('#page:not([hx-get])').waitFor();
  });
});

describe.each(Object.keys(pages))('%s', (pattern) => {
  const path = () => pages[pattern]?.(world) ?? '';

  it('shows text as text, has no problem of access, and fits 360 px in both themes', async () => {
    const { page } = approver;
    // With what the page loads by itself.
    await page.goto(path(), { waitUntil: 'networkidle' });
    await unfold(page);
    const shown = await page.locator('body').innerText();
    const hasText = !pagesWithText.has(pattern) || shown.includes('<script>alert(1)</script>');
    const found = [await foreignElements(page), await turningElements(page), await unknownLinks(page)];
    expect([...found, hasText]).toEqual([[], [], [], true]);
    expect(await problemsOfLooks(page)).toEqual([]);
  }, 120_000);

  it('takes nothing for markup that stands in its address, and breaks by none of it', async () => {
    const { page } = proposer;
    for (const address of hostileAddresses(pattern, path())) {
      const answer = await page.goto(address);
      expect(answer?.status(), address).toBeLessThan(500);
      expect(await foreignElements(page), address).toEqual([]);
    }
  });
});

describe('a sign-in that ended while nobody clicked', () => {
  it('is noticed by a page that moves by itself, and leads back to it', async () => {
    const { page, arrivesAt } = absent;
    const payment = `${absentUrl}/payments/${world.stuck}`;
    await page.waitForURL(`${absentUrl}/sign-in?next=${encodeURIComponent(`/payments/${world.stuck}`)}`, {
      timeout: 100_000,
    });
    await signInOn(page, scenario.tokenOf('operator'));
    await arrivesAt(`Payout ${world.stuck}`);
    expect(page.url()).toBe(payment);
  });

  it('does nothing with a form that comes too late, and says how to go on', async () => {
    const { page, fill, press, sees, follow, arrivesAt } = proposer;
    await page.goto(pages['/breaks/:id/:act']?.(world) ?? '');
    await fill('What is known', 'too late');
    await page.context().clearCookies({ name: 'pesewa-session' });
    await press(/^Note: /);
    await sees('Your sign-in has ended, and nothing was done.');
    expect(await notesOf()).not.toContain('too late');
    await follow('Sign in');
    await signInOn(page, scenario.tokenOf('operator'));
    await arrivesAt('Today');
    expect(await notesOf()).toContain(hostile);
  });
});
