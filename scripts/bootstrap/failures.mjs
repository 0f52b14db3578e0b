// Turns the output of a failed npm or pnpm run into one line: what is wrong and what to do.

const networkHint = 'check the network or proxy settings and run again.';

const causes = [
  [/ENOSPC|no space left/i, () => 'the disk is full: free some space and run again.'],
  [
    /\b(EACCES|EPERM|EROFS)\b|permission denied/i,
    () => 'this directory cannot be written: check its owner and permissions and run again.',
  ],
  [
    /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|CERT_|certificate/i,
    () => 'the registry certificate is not trusted: set NODE_EXTRA_CA_CERTS to your CA file and run again.',
  ],
  [
    /OUTDATED_LOCKFILE|LOCKFILE_CONFIG_MISMATCH|LOCKFILE_MISSING|NO_LOCKFILE/,
    () => 'pnpm-lock.yaml does not match the package.json files: run `pnpm install` and commit the lockfile.',
  ],
  [
    /\bE404\b|ERR_PNPM_FETCH_404|ETARGET|NO_MATCHING_VERSION/,
    () => 'the package registry does not serve a pinned version: check which registry npm is set to use.',
  ],
  [
    /\bE?40[137]\b|ERR_PNPM_FETCH_40[137]/,
    () => 'the package registry refuses access: check its credentials in .npmrc and run again.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|META_FETCH_FAIL|dns error|error sending request|socket hang up|network/i,
    () => `the package registry cannot be reached: ${networkHint}`,
  ],
];

/** The last line that names an error, else the last line at all. */
const tellingLine = (output) => {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.findLast((line) => /err/i.test(line)) ?? lines.at(-1) ?? 'no output';
};

/** One line on a failed step; it names the log file unless the cause is a known one. */
export const explainFailure = (what, command, output, logFile) => {
  if (new RegExp(`ENOENT spawn ${command}|spawn ${command} ENOENT`).test(output)) {
    return `${what} failed: ${command} is not on PATH: install Node with npm (nodejs.org) and run again.`;
  }
  const cause = causes.find(([pattern]) => pattern.test(output));
  if (cause !== undefined) return `${what} failed: ${cause[1]()}`;
  return `${what} failed: ${tellingLine(output)}${logFile === undefined ? '' : ` (all of it in ${logFile})`}`;
};
