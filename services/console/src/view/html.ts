import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Escaped HTML; a template gives it, and arrays of it go into templates as they are. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** What a template takes. */
export type Content = Html | Promise<Html> | string | number | null | undefined | false | readonly Content[];

const BLANK = html``;

/** Nothing. */
export const nothing: Html = BLANK;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Attributes of one element: absent ones are left out, `true` has no value, and every value is quoted and escaped. */
export function attributes(given: Readonly<Record<string, string | number | boolean | undefined>>): Html {
  const text = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [` ${name}`];
    return [` ${name}="${String(value).replaceAll(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign)}"`];
  });
  return raw(text.join(''));
}

/**
 * Attributes by which htmx loads something in place. Only elements with the page's nonce are obeyed, so that markup which
 * somebody smuggles into a page does nothing.
 */
export function hx(
  nonce: string,
  given: Readonly<Record<'get' | 'trigger' | 'target' | 'swap' | 'headers', string> & { select?: string }>,
): Html {
  const named = Object.entries({ ...given, nonce }).map(([name, value]) => [`hx-${name}`, value]);
  return attributes(Object.fromEntries(named) as Record<string, string>);
}

/** The path of a page, with its parts and query encoded; absent and empty values are left out of the query. */
export function pathOf(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') asked.set(name, value);
  const path = `/${parts.map(encodeURIComponent).join('/')}`;
  return asked.size === 0 ? path : `${path}?${asked.toString()}`;
}

/** A link to a page of the console; the address must come from {@link pathOf}. */
export function link(path: string, text: Content): Html {
  if (!path.startsWith('/')) throw new RangeError('a link leads to a page of the console');
  return html`<a href="${path}">${text}</a>`;
}

/** A text that somebody else wrote, which must not turn the direction of what stands beside it. */
export function foreign(text: string | null | undefined): Html {
  return text === null || text === undefined || text === '' ? dash : html`<bdi>${text}</bdi>`;
}

/** A text that somebody else wrote, for where markup can't isolate it, such as a page's title. */
export const isolated = (text: string): string =>
  `\u2068${text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')}\u2069`;

/** What is shown where there is nothing to show. */
export const dash: Html = html`<span class="none" aria-label="none">–</span>`;

/** An id in full, which a click on its button copies. */
export function copyable(id: string, path?: string): Html {
  const shown = path === undefined ? html`<code>${id}</code>` : link(path, html`<code>${id}</code>`);
  return html`<span class="id">${shown}${copyButton(id, id)}</span>`;
}

/** A button that copies a text; `what` names it. */
export function copyButton(text: string, what: string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${what}">${sign('copy')}</button>`;
}

const signs = {
  good: '<path d="M2 8.5l4 4 8-9"/>',
  bad: '<path d="M3 3l10 10M13 3L3 13"/>',
  open: '<circle cx="8" cy="8" r="4"/>',
  copy: '<path d="M5 5h9v9H5zM2 11V2h9"/>',
} as const;

/** A drawn sign, which every font has; it says nothing that words beside it do not. */
export function sign(name: keyof typeof signs): Html {
  return html`<svg class="sign" viewBox="0 0 16 16" aria-hidden="true">${raw(signs[name])}</svg>`;
}
