import { type Content, dash, foreign, type Html, link, pathOf } from './html.ts';

const pages = {
  payment: ['payments'],
  break: ['breaks'],
  rail: ['rails'],
  merchant: ['merchants'],
  account: ['ledger', 'accounts'],
  order: ['approvals', 'orders'],
  decision: ['approvals', 'decisions'],
  setting: ['approvals', 'settings'],
  delivery: ['webhooks', 'deliveries'],
  parked: ['webhooks', 'parked'],
  close: ['reconciliation', 'closes'],
  statement: ['reconciliation', 'statements'],
} as const;

/** What has a page of its own, by its id. */
export type Subject = keyof typeof pages;

/** The path of the page of something, such as a payment by our reference. */
export const pathTo = (
  what: Subject,
  id: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string => pathOf([...pages[what], id], query);

/** A link to the page of something, by its id unless another text is given; a dash if there is none. */
export const linkTo = (what: Subject, id: string | null | undefined, text: Content = foreign(id)): Html =>
  id === null || id === undefined ? dash : link(pathTo(what, id), text);

/** The path of an account's statement from the time of one of its entries on: the entry is its first line. */
export const pathToEntry = (account: string, at: string): string => pathTo('account', account, { from: at });

/** The path of a wallet's page, by its name `rail:currency`. */
export function pathToWallet(wallet: string): string {
  const [rail = '', currency = ''] = wallet.split(':');
  return pathOf(['reconciliation', 'wallets', rail, currency]);
}
