import { Readable } from 'node:stream';
import type { Clock } from '@pesewa/kernel';
import { allowSlowAnswer, readUpload, type UploadRate } from '@pesewa/runtime';
import type { Context, Hono, HonoRequest } from 'hono';
import { html } from 'hono/html';
import type { Env } from './environment.ts';
import { problemOf } from './view/form.ts';
import type { Routes, Visit } from './visits.ts';

/** Has the token of the sign-in where a request's body is a file. */
export const FILE_HEADER = 'x-csrf-token';

const FILE_BYTES_MAX = 268_435_456;
const tooLarge =
  'A file that is sent here has 1 byte to 256 MiB. For a larger one see pesewa reconcile match --help';
/** The minimum speed of a file. */
const fileRate: UploadRate = { idleMs: 15_000, bytesPerSecondMin: 16_384, graceMs: 15_000 };

/** Whether a request's body is a file: it is passed on as it comes, and never read as a form. */
export const isFile = (request: Pick<HonoRequest, 'header'>): boolean =>
  request.header(FILE_HEADER) !== undefined;

/** Adds downloads and uploads to the app; no file is ever held as a whole. */
export function createFileRoutes(
  app: Hono<Env>,
  visitOf: (context: Context<Env>) => Visit,
  clock: Clock,
): Pick<Routes, 'download' | 'upload'> {
  return {
    download: (path, give) => {
      app.get(path, async (context) => {
        const { body, headers } = await give(visitOf(context));
        allowSlowAnswer(context);
        for (const name of ['content-type', 'content-disposition'])
          context.header(name, headers.get(name) ?? undefined);
        context.header('Cache-Control', 'no-store');
        return context.newResponse(body);
      });
    },
    upload: (path, take) => {
      app.post(path, async (context) => {
        const sizeBytes = Number(context.req.header('content-length'));
        if (!isFile(context.req) || !(sizeBytes > 0 && sizeBytes <= FILE_BYTES_MAX))
          return context.html(problemOf(tooLarge), 413);
        allowSlowAnswer(context);
        const content = Readable.from(readUpload(context, fileRate, clock), { objectMode: false });
        const outcome = await take({ ...visitOf(context), content, sizeBytes });
        context.header('Cache-Control', 'no-store');
        if ('shown' in outcome) return context.html(html`${outcome.shown}`, outcome.status);
        context.header('HX-Redirect', outcome.goTo);
        return context.body(null, 200);
      });
    },
  };
}
