import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { sendFile } from '@pesewa/operator-client';
import { CliError } from '../errors.ts';
import type { OperationsUpload } from '../ports.ts';

const PIECE_BYTES = 262_144;

/**
 * Computes a file's digest, then streams the file.
 *
 * A service that knows the file already answers before it was sent; the rest is then not sent.
 */
export const uploadHttp: OperationsUpload = async ({ urlOf, token, file, progress }) => {
  const unreadable = () => {
    throw new CliError(`FILE: ${file} can't be read: check the path and its permissions`);
  };
  const { size } = await stat(file).catch(unreadable);
  const hash = createHash('sha256');
  try {
    for await (const piece of createReadStream(file, { highWaterMark: PIECE_BYTES }))
      hash.update(piece as Buffer);
  } catch {
    unreadable();
  }
  const content = createReadStream(file, { highWaterMark: PIECE_BYTES });
  let sent = 0;
  content.on('data', (piece) => {
    sent += piece.length;
    progress(sent, size);
  });
  return sendFile({ url: urlOf(hash.digest('hex')), token, content, sizeBytes: size });
};
