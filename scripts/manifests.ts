// Writes the parts of `deploy` that the code knows: topics, rights, roles and settings. With `--check` nothing is
// written: it names each file that differs, and the exit code is 1. With the folders of overlays it only names what
// breaks a rule in them.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Document, isMap, isSeq, parse, visit } from 'yaml';
import { configurations } from './deploy/configuration.ts';
import { kafkaTopics, kafkaUsers } from './deploy/kafka.ts';
import { mongodbUsers } from './deploy/mongodb.ts';
import { render } from './deploy/rendered.ts';
import { faultsOf } from './deploy/rules.ts';
import { readGenerated, writeGenerated } from './generated.ts';

const HEADER = '# Written by npm run manifests.\n';

/** Lists whose items are written in one line each. */
const ONE_LINE = ['acls', 'roles'];

/** YAML that readers of versions 1.1 and 1.2 understand in the same way. */
const toYaml = (...objects: readonly object[]): string => {
  const texts = objects.map((object) => {
    const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false });
    visit(document, {
      Pair: (_key, { key, value }) => {
        if (!ONE_LINE.includes(String(key)) || !isSeq(value)) return;
        for (const item of value.items) if (isMap(item)) item.flow = true;
      },
    });
    return document.toString({ lineWidth: 0 });
  });
  return HEADER + texts.join('---\n');
};

/** The alerts as objects of the Prometheus operator. */
const alerts = (): readonly object[] =>
  ['reconciler', 'services'].map((name) => ({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name },
    spec: parse(readGenerated(`deploy/monitoring/${name}.rules.yaml`)) as object,
  }));

const derived = async (): Promise<Readonly<Record<string, string>>> => ({
  'deploy/kubernetes/platform/kafka/topics.yaml': toYaml(...kafkaTopics()),
  'deploy/kubernetes/platform/kafka/users.yaml': toYaml(...kafkaUsers()),
  'deploy/kubernetes/platform/mongodb/users.yaml': toYaml(mongodbUsers()),
  'deploy/monitoring/prometheus-rules.yaml': toYaml(...alerts()),
  ...Object.fromEntries(
    Object.entries(await configurations()).map(([folder, text]) => [
      `deploy/kubernetes/base/${folder}/config.env`,
      HEADER + text,
    ]),
  ),
});

const { positionals: overlays } = parseArgs({
  options: { check: { type: 'boolean' } },
  allowPositionals: true,
});
if (overlays.length === 0) writeGenerated(await derived(), 'manifests');
const faults = overlays.flatMap((folder) => faultsOf(render(path.resolve(folder))));
process.stdout.write(faults.map((fault) => `${fault}\n`).join(''));
if (faults.length > 0) process.exitCode = 1;
