import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The state of a process as the operating system reports it; `T` is stopped. */
export async function stateOf(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]);
  return stdout.trim().slice(0, 1);
}
