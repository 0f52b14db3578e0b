import type { CallerView } from '@pesewa/contracts';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { assets } from '../assets.ts';
import { attributes, type Content, type Html, hx, link, nothing } from './html.ts';

/** What a page is: its title and what it shows. */
export interface Page {
  /** The object and its state, such as `Payout po-1: completed`; the product's name is added. */
  readonly title: string;
  readonly body: Content;
  /** Seconds after which it shows itself anew; absent if nothing on it moves by itself. */
  readonly everySeconds?: number;
}

/** Who looks, and how. */
export interface Frame {
  readonly nonce: string;
  readonly theme: Theme;
  /** Names the sign-in without giving anything of it away: what a page loads by itself must come from the same one. */
  readonly signInMark?: string | undefined;
  /** The path of this page with its query. */
  readonly path: string;
  readonly zone: string;
  /** Absent before sign-in. */
  readonly operator?: CallerView | undefined;
  readonly csrf?: string | undefined;
  /** When the sign-in ends without another click; ISO 8601. */
  readonly endsAt?: string | undefined;
  readonly hasSandbox: boolean;
}

/** Has the mark of the sign-in that a page was made for. */
export const SIGN_IN_HEADER = 'x-sign-in';

/** The colours: those of the system, or chosen. */
export type Theme = 'system' | 'light' | 'dark';

const sections = [
  ['/', 'Today', 't'],
  ['/payments', 'Payments', 'p'],
  ['/breaks', 'Breaks', 'b'],
  ['/approvals', 'Approvals', 'a'],
  ['/reconciliation', 'Reconciliation', 'r'],
  ['/ledger', 'Ledger', 'l'],
  ['/webhooks', 'Webhooks', 'w'],
  ['/merchants', 'Merchants', 'm'],
  ['/rails', 'Rails', 'i'],
  ['/actions', 'Who did what', 'c'],
] as const;

const sandbox = ['/sandbox', 'Sandbox', 's'] as const;

const htmxConfig = JSON.stringify({
  history: 'reload',
  includeIndicatorCSS: false,
  defaultSettleDelay: 0,
  extensions: 'hx-csp',
  // What somebody unfolded stays so when a page shows itself anew.
  morphIgnore: ['data-htmx-powered', 'open'],
});

/** The part of a page that changes in place. */
export function mainOf(page: Page): Html {
  return html`<h1>${titleOf(page)}</h1>${page.body}`;
}

/** The title without signs that turn the direction of all that follows. */
const titleOf = ({ title }: Page): string => title.replaceAll(/[\u202a-\u202e]/g, '');

/** A whole page. */
export function layout(page: Page, frame: Frame): Html {
  const { nonce, theme } = frame;
  const script = (name: 'htmx.js' | 'hx-csp.js' | 'uplot.js' | 'app.js') =>
    html`<script defer nonce="${nonce}" src="${assets[name].path}"></script>`;
  return html`<!doctype html>
<html lang="en"${attributes({ 'data-theme': theme === 'system' ? undefined : theme })}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${titleOf(page)} · Pesewa</title>
<meta name="htmx-config"${attributes({ content: htmxConfig })}>
<link rel="icon" type="image/svg+xml" href="${assets['icon.svg'].path}">
<link rel="stylesheet" href="${assets['uplot.css'].path}"><link rel="stylesheet" href="${assets['style.css'].path}">
${script('htmx.js')}${script('hx-csp.js')}${script('uplot.js')}${script('app.js')}</head>
<body${attributes({ 'data-ends-at': frame.endsAt })}>
<a class="skip" href="#main">Skip to the page</a>
${frame.operator ? header(frame, frame.operator) : nothing}
<main id="main" tabindex="-1"${live(page, frame)}>${mainOf(page)}</main>
${footer(page, frame)}
<p id="status" role="status" class="status"></p>
</body></html>`;
}

/** A page that moves by itself loads its main part anew; htmx changes only what differs. */
function live({ everySeconds }: Page, { nonce, path, signInMark = '' }: Frame): Html {
  if (everySeconds === undefined) return nothing;
  const trigger = `every ${everySeconds}s`;
  const headers = JSON.stringify({ [SIGN_IN_HEADER]: signInMark });
  return hx(nonce, { get: path, trigger, target: '#main', swap: 'innerMorph', headers });
}

function header({ path, csrf = '', hasSandbox }: Frame, { name, role }: CallerView): Html {
  const [here = '/'] = path.split('?', 1);
  const isHere = (section: string) => (section === '/' ? here === '/' : `${here}/`.startsWith(`${section}/`));
  const shown = hasSandbox ? [...sections, sandbox] : sections;
  return html`<header>
<div class="bar"><a class="brand" href="/">Pesewa</a>
<form method="get" action="/search" role="search" class="find"><label for="find" class="hidden">Search by any reference, name or id</label>
<input id="find" name="q" type="search" placeholder="Reference, name or id  ( / )" autocomplete="off" maxlength="200"><button type="submit">Search</button></form>
<div class="who"><span>${name}, ${role}</span><form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${csrf}"><button type="submit">Sign out</button></form></div></div>
<nav aria-label="Sections">${shown.map(
    ([section, title, key]) =>
      html`<a href="${section}" data-key="${key}"${attributes({ 'aria-current': isHere(section) ? 'page' : undefined })}>${title}</a>`,
  )}</nav></header>`;
}

function footer({ everySeconds }: Page, { zone, csrf, path, operator }: Frame): Html {
  const moving =
    everySeconds === undefined
      ? nothing
      : html`<button type="button" id="pause">Updates every ${everySeconds} s: pause</button>`;
  const themes = ['system', 'light', 'dark'] as const;
  const choice =
    operator === undefined
      ? nothing
      : html`<form method="post" action="/theme"><input type="hidden" name="csrf" value="${csrf ?? ''}"><input type="hidden" name="back" value="${path}">Colours: ${themes.map((one) => html`<button type="submit" name="theme" value="${one}">${one}</button>`)}</form>`;
  return html`<footer><span>Times are in ${zone}.</span> ${moving} ${choice} <button type="button" id="keys">Keys (?)</button></footer>`;
}

/** Answers with a page that leads on at once: to this path, or to itself anew. */
export function leadOn(context: Context, path?: string): Response | Promise<Response> {
  context.header('Cache-Control', 'no-store');
  const where = path === undefined ? '' : `;url=${path}`;
  return context.html(
    html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Pesewa</title><meta http-equiv="refresh" content="0${where}"></html>`,
  );
}

/** A part of a page under its own heading; `more` leads to all of it. */
export function section(title: string, body: Content, more?: readonly [path: string, text: string]): Html {
  return html`<section><h2>${title}</h2>${body}${more ? html`<p class="more">${link(...more)}</p>` : nothing}</section>`;
}
