import { type ChangeView, type SettingView, settingsOperations } from '@pesewa/contracts';
import { describeAccount, inWords, readWallet, settingLabel, settingText } from '@pesewa/operator-client';
import { html } from 'hono/html';
import { copyable, dash, foreign, type Html, link, nothing, pathOf } from '../view/html.ts';
import { type Page, section } from '../view/layout.ts';
import { facts, number, pager, table } from '../view/table.ts';
import { amount, state, time } from '../view/values.ts';
import { part, type Routes, type Visit } from '../visits.ts';
import { accountPath } from './order.ts';

/** The merchants, and one with its settings, its balances and who changed what. */
export function addMerchantPages(routes: Routes): void {
  routes.page('/merchants', showMerchants);
  routes.page('/merchants/:id', showMerchant);
}

/** A merchant's settings by their paths. */
export type Settings = ReadonlyMap<string, SettingView>;

/** Reads a merchant's settings. */
export async function readSettings({ upstream, part: partOf }: Visit): Promise<Settings> {
  const parameters = { merchantId: partOf('id') };
  const { settings } = await upstream.call('ledger', settingsOperations.merchant, { parameters });
  return new Map(settings.map((one) => [one.field, one]));
}

async function showMerchants({ upstream, query }: Visit): Promise<Page> {
  const cursor = query('cursor');
  const { items, next } = await upstream.call('ledger', settingsOperations.merchants, { query: { cursor } });
  const rows = items.map(({ id, name, status }) => [
    copyable(id, pathOf(['merchants', id])),
    foreign(name),
    state(status),
  ]);
  const body = html`${table({
    caption: 'By their ids',
    columns: ['Merchant', 'Name', 'State'],
    rows,
    empty: 'No merchants: to create one, see pesewa merchants create --help',
  })}${pager({
    next,
    pathAfter: (after) => pathOf(['merchants'], { cursor: after }),
    isFirst: cursor === undefined,
    words: ['First', 'More'],
  })}`;
  return { title: 'Merchants', body };
}

async function showMerchant(visit: Visit): Promise<Page> {
  const id = visit.part('id');
  const [settings, history] = await Promise.all([readSettings(visit), part(showHistory(visit))]);
  const all = [...settings.values()];
  const currencies = [
    ...new Set(all.flatMap(({ field }) => /^wallets\.([A-Z]{3})\./.exec(field)?.[1] ?? [])),
  ];
  const wallets = await part(walletTable(visit, settings, currencies));
  const change = (links: readonly ChangeLink[]) =>
    html`<p class="actions">${links.map((one) => changeLink(visit, one))}</p>`;
  const group = (title: string, prefixes: readonly string[], empty: string, links: readonly ChangeLink[]) => {
    const found = all.filter(({ field }) => prefixes.some((prefix) => field.startsWith(prefix)));
    const named = found.map((one) => [settingLabel(one.field), foreign(settingText(one))] as const);
    const shown = named.length === 0 ? html`<p class="empty">${empty}</p>` : facts(named);
    return section(title, html`${shown}${change(links)}`);
  };
  const onAmounts = currencies.map(
    (currency) => ['limits', `Limits on amounts in ${currency}`, { currency }] as const,
  );
  const isActive = settings.get('status')?.value === 'active';
  const whoMay = visit.may('admin')
    ? nothing
    : html`<p class="empty">It takes an admin to change settings.</p>`;
  const body = html`${whoMay}${isActive ? nothing : html`<p class="problem">Requests are refused; payments in progress continue.</p>`}
<p class="actions">${link(pathOf(['payments'], { merchant: id }), 'Payments')}${link(pathOf(['webhooks'], { merchant: id }), 'Webhooks')}</p>
${change(isActive ? [['suspend', 'Suspend', SHOWN]] : [['resume', 'Propose to resume', SHOWN]])}
${section('Wallets', html`${wallets}${change([['wallet', 'Add a wallet']])}`)}
${section('Keys', html`${keyTable(visit, all)}${change([['add-key', 'Add a key']])}`)}
${group('Limits', ['limits.'], 'No limits are set.', [['limits', 'Limits on requests'], ...onAmounts])}
${group('Webhook addresses', ['webhooks.'], 'No address is set.', [['webhooks', 'Change addresses or the secret']])}
${group(settings.has('allowedAddresses') ? 'Requests' : 'Requests, which may come from anywhere', ['allowedAddresses', 'signing.'], '', [['access', 'Change allowed addresses']])}
${section('Who changed what', history)}`;
  return {
    title: `${settings.get('name')?.value ?? id} (${id}): ${settings.get('status')?.value ?? ''}`,
    body,
  };
}

/** Where nothing is to be asked, what would happen is shown at once. */
const SHOWN = { shown: 'yes' };

type ChangeLink = readonly [kind: string, words: string, about?: Readonly<Record<string, string>>];

/** A link to the form for a change, which takes an admin. */
const changeLink = ({ may, part: partOf }: Visit, [kind, words, about]: ChangeLink): Html =>
  may('admin') ? link(pathOf(['merchants', partOf('id'), 'changes', kind], about), words) : nothing;

async function walletTable(visit: Visit, settings: Settings, currencies: readonly string[]): Promise<Html> {
  const id = visit.part('id');
  const price = (path: string) =>
    Object.entries({ percent: '', fixed: '+ ', min: 'at least ', max: 'at most ' }).map(([name, words]) => {
      const found = settings.get(`${path}.${name}`);
      return found && html`${words}${settingText(found)} `;
    });
  const rows = currencies.map(async (currency) => {
    const { available, held } = await readWallet(visit.upstream, id, currency);
    const account = accountPath(`wallet:${id}:${currency}`);
    return [
      link(account, describeAccount(`wallet:${id}:${currency}`)),
      settings.get(`wallets.${currency}.country`)?.value,
      amount(available, currency, account),
      amount(held, currency, account),
      price(`wallets.${currency}.payoutFee`),
      price(`wallets.${currency}.collectionFee`),
      changeLink(visit, ['wallet', `Change prices in ${currency}`, { currency }]),
    ];
  });
  return table({
    caption: 'Balances as the ledger has them',
    columns: [
      'Wallet',
      'Country',
      number('Available'),
      number('Held'),
      'A payout costs',
      'A collection costs',
      'Change',
    ],
    rows: await Promise.all(rows),
    empty: 'No wallet yet: without one nothing can be paid.',
  });
}

function keyTable(visit: Visit, settings: readonly SettingView[]): Html {
  const rows = settings.flatMap(({ field, value }) => {
    if (!field.startsWith('keys.')) return [];
    const keyHash = field.slice('keys.'.length);
    const [scopes, until] = value.split(' until ', 2);
    const isOver = until !== undefined && Date.parse(until) <= visit.times.nowMs;
    return [
      [
        html`<code>${keyHash}…</code>`,
        scopes,
        until === undefined ? 'never' : html`${isOver ? 'expired ' : nothing}${time(until, visit.times)}`,
        changeLink(visit, ['remove-key', `Remove ${keyHash}…`, { keyHash, ...SHOWN }]),
      ],
    ];
  });
  return table({
    caption: 'Public keys, each by the beginning of its SHA-256',
    columns: ['Key', 'For', 'Expires', 'Change'],
    rows,
    empty: 'No key: the merchant can send no request.',
  });
}

async function showHistory({ upstream, part: partOf, query, times }: Visit): Promise<Html> {
  const [merchant, cursor] = [partOf('id'), query('cursor')];
  const { items, next } = await upstream.call('ledger', settingsOperations.list, {
    query: { merchant, cursor },
  });
  const who = (name: string | undefined, at: string | undefined) =>
    name === undefined && at === undefined ? dash : html`${foreign(name)} ${time(at, times)}`;
  const rows = items.map((one) => [
    link(pathOf(['approvals', 'settings', one.id]), inWords(one.kind)),
    state(one.status),
    fieldChanges(one.fields),
    who(one.requestedBy, one.requestedAt),
    who(one.approvedBy ?? one.rejectedBy, one.appliedAt ?? one.rejectedAt),
    foreign(one.rejectedFor ?? one.reason),
  ]);
  return html`${table({
    caption: 'Changes, the newest first',
    columns: ['Change', 'Status', 'From what to what', 'Asked for', 'Decided', 'Why'],
    rows,
    empty: 'Nothing was changed since the merchant was created.',
  })}${pager({
    next,
    pathAfter: (after) => pathOf(['merchants', merchant], { cursor: after }),
    isFirst: cursor === undefined,
  })}`;
}

/** From what to what each setting changes. */
export function fieldChanges(fields: ChangeView['fields']): Html {
  return html`<ul>${fields.map(({ from, to, ...setting }) => {
    const [before, after] = [from, to].map((value) =>
      value === null ? 'none' : foreign(settingText({ ...setting, value })),
    );
    return html`<li>${settingLabel(setting.field)}: from ${before} to ${after}</li>`;
  })}</ul>`;
}
