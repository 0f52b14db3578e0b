import {
  type ChangeView,
  type MerchantSummaryView,
  type SettingView,
  settingsOperations,
  type WalletView,
} from '@pesewa/contracts';
import { describeAccount, inWords, readWallet, settingLabel, settingText } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { copyable, dash, foreign, type Html, isolated, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { linkTo, pathTo } from '../view/links.ts';
import { facts, listOf, tableOf } from '../view/table.ts';
import { amount, state, type TimeView, time, words } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';

/** The merchants, and one with its settings, its balances and who changed what. */
export function addMerchantPages(routes: Routes): void {
  routes.page('/merchants', showMerchants);
  routes.page('/merchants/:id', showMerchant);
}

const WALLETS_SHOWN = 20;
type Listed = MerchantSummaryView & { readonly wallet: Pick<WalletView, 'available' | 'held'> | undefined };

/** A merchant's settings by their paths. */
export type Settings = ReadonlyMap<string, SettingView>;

/** Reads a merchant's settings. */
export async function readSettings({ upstream }: Visit, merchantId: string): Promise<Settings> {
  const parameters = { merchantId };
  const { settings } = await upstream.call('ledger', settingsOperations.merchant, { parameters });
  return new Map(settings.map((one) => [one.field, one]));
}

/** The currencies of a merchant's wallets. */
export const currenciesOf = (settings: Settings): readonly string[] => [
  ...new Set([...settings.keys()].flatMap((field) => /^wallets\.([A-Z]{3})\./.exec(field)?.[1] ?? [])),
];

/** With a currency, few at a time, each with its wallet in it: what the sums of all wallets are made of. */
async function showMerchants(visit: Visit): Promise<Page> {
  const { upstream, query } = visit;
  const currency = query('currency');
  const pathOfWallet = (id: string) => pathTo('account', `wallet:${id}:${currency}`);
  const withWallet = async (one: MerchantSummaryView): Promise<Listed> => {
    const wallet = currency === undefined ? undefined : await readWallet(upstream, one.id, currency);
    return { ...one, wallet };
  };
  const body = await listOf(visit, {
    path: ['merchants'],
    caption: currency === undefined ? 'By their ids' : `By their ids, with their ${currency} wallets`,
    kept: ['currency'],
    read: async (cursor) => {
      const limit = currency === undefined ? undefined : WALLETS_SHOWN;
      const asked = { query: { cursor, limit } };
      const { items, next } = await upstream.call('ledger', settingsOperations.merchants, asked);
      return { items: await Promise.all(items.map(withWallet)), next };
    },
    columns: [
      ['Merchant', ({ id }) => copyable(id, pathTo('merchant', id))],
      ['Name', ({ name }) => foreign(name)],
      ['State', ({ status }) => state(status)],
      ...(['available', 'held'] as const).map(
        (name) =>
          currency !== undefined &&
          ([
            inWords(name),
            ({ id, wallet }: Listed) => amount(wallet?.[name], currency, pathOfWallet(id)),
            'number',
          ] as const),
      ),
    ],
    empty: 'No merchants: to create one, see pesewa merchants create --help',
  });
  return { title: 'Merchants', body };
}

async function showMerchant(visit: Visit): Promise<Page> {
  const id = visit.part('id');
  const [settings, history] = await Promise.all([readSettings(visit, id), showHistory(visit, id)]);
  const all = [...settings.values()];
  const currencies = currenciesOf(settings);
  const wallets = await part(walletTable(visit, settings, currencies));
  const change = (...links: readonly ChangeLink[]) =>
    html`<p class="actions">${links.map((one) => changeLink(visit, one))}</p>`;
  const group = (title: string, prefixes: readonly string[], empty: string, ...links: ChangeLink[]) => {
    const found = all.filter(({ field }) => prefixes.some((prefix) => field.startsWith(prefix)));
    const named = found.map(
      (one) => [settingLabel(one.field), words(settingText(one), visit.times)] as const,
    );
    const shown = named.length === 0 ? html`<p class="empty">${empty}</p>` : facts(named);
    return section(title, html`${shown}${change(...links)}`);
  };
  const onAmounts = currencies.map(
    (currency) => ['limits', `Limits on amounts in ${currency}`, { currency }] as const,
  );
  const isActive = settings.get('status')?.value === 'active';
  const whoMay = html`<p class="empty">It takes an admin to change settings.</p>`;
  const body = html`${visit.may('admin') ? nothing : whoMay}${isActive ? nothing : html`<p class="problem">Requests are refused; payments in progress continue.</p>`}
<p class="actions">${link(pathOf(['payments'], { merchant: id }), 'Payments')}${link(pathOf(['webhooks'], { merchant: id }), 'Webhooks')}</p>
${change(isActive ? ['suspend', 'Suspend'] : ['resume', 'Propose to resume'])}
${section('Wallets', html`${wallets}${change(['wallet', 'Add a wallet'])}`)}
${section('Keys', html`${keyTable(visit, all)}${change(['add-key', 'Add a key'])}`)}
${group('Limits', ['limits.'], 'No limits are set.', ['limits', 'Limits on requests'], ...onAmounts)}
${group('Webhook addresses', ['webhooks.'], 'No address is set.', ['webhooks', 'Change addresses or the secret'])}
${group('Requests', ['allowedAddresses', 'signing.'], 'They may come from anywhere.', ['access', 'Change allowed addresses'])}
${section('Who changed what', history)}`;
  const name = settings.get('name')?.value ?? id;
  return { title: `${isolated(name)} (${id}): ${settings.get('status')?.value ?? ''}`, body };
}

type ChangeLink = readonly [kind: string, words: string, about?: Readonly<Record<string, string>>];

/** A link to the form for a change, which takes an admin. */
const changeLink = ({ may, part: partOf }: Visit, [kind, text, about]: ChangeLink): Html =>
  may('admin') ? link(pathOf(['merchants', partOf('id'), 'changes', kind], about), text) : nothing;

async function walletTable(visit: Visit, settings: Settings, currencies: readonly string[]): Promise<Html> {
  const id = visit.part('id');
  const price = (currency: string, fee: string) =>
    Object.entries({ percent: '', fixed: 'plus ', min: 'at least ', max: 'at most ' })
      .flatMap(([name, text]) => {
        const found = settings.get(`wallets.${currency}.${fee}.${name}`);
        return found ? html`${text}${settingText(found)}` : [];
      })
      .map((text, index) => html`${index > 0 && ', '}${text}`);
  const wallets = currencies.map(async (currency) => {
    const account = `wallet:${id}:${currency}`;
    const balances = await readWallet(visit.upstream, id, currency);
    return { ...balances, currency, account, path: pathTo('account', account) };
  });
  return tableOf(
    'Balances as the ledger has them',
    await Promise.all(wallets),
    [
      ['Wallet', ({ account, path }) => link(path, describeAccount(account))],
      ['Country', ({ currency }) => settings.get(`wallets.${currency}.country`)?.value],
      ['Available', ({ available, currency, path }) => amount(available, currency, path), 'number'],
      ['Held', ({ held, currency, path }) => amount(held, currency, path), 'number'],
      ['A payout costs', ({ currency }) => price(currency, 'payoutFee')],
      ['A collection costs', ({ currency }) => price(currency, 'collectionFee')],
      visit.may('admin') && [
        'Change',
        ({ currency }) => changeLink(visit, ['wallet', `Change prices in ${currency}`, { currency }]),
      ],
    ],
    'No wallet yet: without one nothing can be paid.',
  );
}

function keyTable(visit: Visit, settings: readonly SettingView[]): Html {
  const { nowMs } = visit.times;
  const keys = settings.flatMap(({ field, value }) => {
    if (!field.startsWith('keys.')) return [];
    const [scopes, until] = value.split(' until ', 2);
    return [{ keyHash: field.slice('keys.'.length), scopes, until }];
  });
  return tableOf(
    'Public keys, each by the beginning of its SHA-256',
    keys,
    [
      ['Key', ({ keyHash }) => html`<code>${keyHash}…</code>`],
      ['For', ({ scopes }) => scopes],
      [
        'Expires',
        ({ until }) =>
          until === undefined
            ? 'never'
            : html`${Date.parse(until) <= nowMs ? 'expired ' : nothing}${time(until, visit.times)}`,
      ],
      visit.may('admin') && [
        'Change',
        ({ keyHash }) => changeLink(visit, ['remove-key', `Remove ${keyHash}…`, { keyHash }]),
      ],
    ],
    'No key: the merchant can send no request.',
  );
}

function showHistory(visit: Visit, merchant: string): Promise<Html> {
  const { upstream, times } = visit;
  const who = (name: string | undefined, at: string | undefined) =>
    name === undefined && at === undefined ? dash : html`${foreign(name)} ${time(at, times)}`;
  return listOf(visit, {
    path: ['merchants', merchant],
    caption: 'Changes, the newest first',
    read: (cursor) => upstream.call('ledger', settingsOperations.list, { query: { merchant, cursor } }),
    columns: [
      ['Change', ({ id, kind }) => linkTo('setting', id, inWords(kind))],
      ['Status', ({ status }) => state(status)],
      ['From what to what', ({ fields }) => fieldChanges(fields, times)],
      ['Asked for', ({ requestedBy, requestedAt }) => who(requestedBy, requestedAt)],
      ['Decided', (one) => who(one.approvedBy ?? one.rejectedBy, one.appliedAt ?? one.rejectedAt)],
      ['Why', ({ rejectedFor, reason }) => words(rejectedFor ?? reason, times)],
    ],
    empty: 'Nothing was changed since the merchant was created.',
  });
}

/** From what to what each setting changes. */
export function fieldChanges(fields: ChangeView['fields'], times: TimeView): Html {
  const shown = (setting: Omit<SettingView, 'value'>, value: string | null) =>
    value === null ? 'none' : words(settingText({ ...setting, value }), times);
  return html`<ul>${fields.map((one) => html`<li>${settingLabel(one.field)}: from ${shown(one, one.from)} to ${shown(one, one.to)}</li>`)}</ul>`;
}
