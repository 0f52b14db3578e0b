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
  /** Another page whose sections this one loads below its own once it stands, because they take longer or matter less. */
  readonly later?: { readonly path: string; readonly title: string };
}

/** Who looks, and how. */
export interface Frame {
  readonly nonce: string;
  readonly theme: Theme;
  /** The path of this page with its query. */
  readonly path: string;
  readonly zone: string;
  readonly hasSandbox: boolean;
  /** Absent before sign-in. */
  readonly signIn?: SignIn;
}

interface SignIn {
  readonly name: string;
  readonly role: string;
  readonly csrf: string;
  /** Names the sign-in without giving anything of it away: what a page loads by itself must come from the same one. */
  readonly mark: string;
  /** When it ends without another click; ISO 8601. */
  readonly endsAt: string;
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
  const script = (name: 'htmx.js' | 'hx-csp.js' | 'app.js') =>
    html`<script defer nonce="${nonce}" src="${assets[name].path}"></script>`;
  return html`<!doctype html>
<html lang="en"${attributes({ 'data-theme': theme === 'system' ? undefined : theme })}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${titleOf(page)} · Pesewa</title>
<meta name="htmx-config"${attributes({ content: htmxConfig })}>
<link rel="icon" type="image/svg+xml" href="${assets['icon.svg'].path}">
<link rel="stylesheet" href="${assets['style.css'].path}">
${script('htmx.js')}${script('hx-csp.js')}${script('app.js')}</head>
<body${attributes({ 'data-ends-at': frame.signIn?.endsAt })}>
<a class="skip" href="#main">Skip to the page</a>
${frame.signIn ? header(frame, frame.signIn) : nothing}
<main id="main" tabindex="-1"><div id="page"${live(page, frame)}>${mainOf(page)}</div>${later(page, frame)}</main>
${footer(page, frame)}
<p id="status" role="status" class="status"></p>
</body></html>`;
}

/** A page that moves by itself is loaded anew; htmx changes only what differs. */
function live({ everySeconds }: Page, frame: Frame): Html {
  if (everySeconds === undefined) return nothing;
  return loads(frame, { get: frame.path, trigger: `every ${everySeconds}s`, target: '#page' });
}

function later({ everySeconds, later: other }: Page, frame: Frame): Html {
  if (!other) return nothing;
  const trigger = everySeconds === undefined ? 'load' : `load, every ${everySeconds}s`;
  const loading = loads(frame, { get: other.path, trigger, target: '#later', select: 'section' });
  return html`<div id="later"${loading}><p class="more">${link(other.path, other.title)}</p></div>`;
}

function loads(
  { nonce, signIn }: Frame,
  what: Readonly<Record<'get' | 'trigger' | 'target', string> & { select?: string }>,
): Html {
  const headers = JSON.stringify({ [SIGN_IN_HEADER]: signIn?.mark ?? '' });
  return hx(nonce, { ...what, swap: 'innerMorph', headers });
}

function header({ path, hasSandbox }: Frame, { name, role, csrf }: SignIn): Html {
  const [here = '/'] = path.split('?', 1);
  const isHere = (section: string) => (section === '/' ? here === '/' : `${here}/`.startsWith(`${section}/`));
  const shown = hasSandbox ? [...sections, sandbox] : sections;
  return html`<header>
<div class="bar"><a class="brand" href="/">Pesewa</a>
<form method="get" action="/search" role="search" class="find"><label for="find" class="hidden">Search by any reference, name or id</label>
<input id="find" name="q" type="search" placeholder="Reference, name or id  ( / )" autocomplete="off" maxlength="200"><button type="submit">Search</button></form>
<div class="who"><span>${name}, ${role}</span><form method="post" action="/sign-out">${csrfField(csrf)}<button type="submit">Sign out</button></form></div></div>
<nav aria-label="Sections">${shown.map(
    ([section, title, key]) =>
      html`<a href="${section}" data-key="${key}"${attributes({ 'aria-current': isHere(section) ? 'page' : undefined })}>${title}</a>`,
  )}</nav></header>`;
}

function footer({ everySeconds }: Page, { zone, path, signIn }: Frame): Html {
  const pause =
    everySeconds !== undefined &&
    html`<button type="button" id="pause">Updates every ${everySeconds} s: pause</button>`;
  const themes = ['system', 'light', 'dark'] as const;
  const choice =
    signIn &&
    html`<form method="post" action="/theme">${csrfField(signIn.csrf)}<input type="hidden" name="back" value="${path}">Colours: ${themes.map((one) => html`<button type="submit" name="theme" value="${one}">${one}</button>`)}</form>`;
  return html`<footer><span>Times are in ${zone}.</span> ${pause} ${choice} <button type="button" id="keys">Keys (?)</button></footer>`;
}

/** Shows that a form is of the same sign-in as the page. */
const csrfField = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}">`;

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
