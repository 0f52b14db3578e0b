import { twoLetterCode } from '@pesewa/contracts';
import { openPackageFiles } from '@pesewa/merchant-api';
import { type Context, Hono } from 'hono';

/** The address of a country's flag, by its three letters; empty if there is none. */
export type FlagUrl = (country: string) => string;

const flags = openPackageFiles({
  manifestUrl: import.meta.resolve('flag-icons/package.json'),
  directory: 'flags/4x3',
  headers: {
    'cache-control': 'public, max-age=2592000, immutable',
    // An image that somebody opens as a page must not run scripts.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  },
});

/** Builds the addresses of flags on our own public address (contract 2.5, 2.6). */
export function createFlagUrl(publicUrl: string): FlagUrl {
  const base = publicUrl.replace(/\/+$/, '');
  return (country) => {
    const name = `${twoLetterCode(country)?.toLowerCase() ?? ''}.svg`;
    return flags.has(name) ? `${base}/flags/${name}` : '';
  };
}

/** The flag images, without authentication: `GET /flags/{two letters}.svg`. */
export function createCountryFlagRoutes(notFound: (context: Context) => Response): Hono {
  const routes = new Hono();
  routes.get('/flags/:name', (context: Context) => {
    const name = context.req.param('name') ?? '';
    return flags.has(name) ? flags.answer(context, name) : notFound(context);
  });
  return routes;
}
