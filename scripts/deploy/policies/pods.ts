import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { PLACEHOLDER_DIGEST } from '../digests.ts';
import {
  at,
  containersOf,
  type Fields,
  isSame,
  listAt,
  mebibytes,
  named,
  numberAt,
  ofKind,
  type Pod,
  podsOf,
  type Rendered,
  type Rule,
  servicesOf,
  textAt,
  titleOf,
} from './rendered.ts';
import { configurationOf } from './services.ts';

/** A line for each Pod that breaks a rule. */
const eachPod =
  (wrong: (pod: Pod, objects: readonly Rendered[]) => boolean) =>
  ({ objects }: { readonly objects: readonly Rendered[] }): readonly string[] =>
    podsOf(objects)
      .filter((pod) => wrong(pod, objects))
      .map(({ owner }) => titleOf(owner));

/** A line for each container that breaks a rule. */
const eachContainer =
  (wrong: (container: Fields, pod: Pod) => boolean) =>
  ({ objects }: { readonly objects: readonly Rendered[] }): readonly string[] =>
    podsOf(objects).flatMap((pod) =>
      containersOf(pod)
        .filter((container) => wrong(container, pod))
        .map((container) => `${titleOf(pod.owner)}: ${textAt(container, 'name')}`),
    );

/** The first Pod's fields, for a violation to change. */
const pod = (objects: readonly Rendered[]): Fields => podsOf(objects)[0]?.spec ?? {};
const security = (objects: readonly Rendered[]): Fields => at(pod(objects), 'securityContext') as Fields;
const container = (objects: readonly Rendered[]): Fields => listAt(pod(objects), 'containers')[0] ?? {};
const resources = (objects: readonly Rendered[], side: 'requests' | 'limits'): Fields =>
  at(container(objects), `resources.${side}`) as Fields;

/** The reserve of a Pod's grace period. */
const GRACE_MARGIN_SECONDS = 10;

/** Rules about every Pod that the manifests create. */
export const podRules: readonly Rule[] = [
  {
    name: 'Pods run as a user with a number that is not root, under the seccomp profile of the runtime',
    check: eachPod(
      ({ spec }) =>
        at(spec, 'securityContext.runAsNonRoot') !== true ||
        !(numberAt(spec, 'securityContext.runAsUser') > 0) ||
        !(numberAt(spec, 'securityContext.fsGroup') > 0) ||
        textAt(spec, 'securityContext.seccompProfile.type') !== 'RuntimeDefault',
    ),
    violations: [
      (objects) => void delete security(objects)['runAsNonRoot'],
      (objects) => (security(objects)['runAsUser'] = 0),
      (objects) => (security(objects)['seccompProfile'] = { type: 'Unconfined' }),
    ],
  },
  {
    name: 'Pods have accounts of their own, without a token, and no links to Services',
    check: ({ objects }) => {
      const makers = podsOf(objects).filter(({ owner }) =>
        ['Deployment', 'StatefulSet', 'CronJob'].includes(owner.kind),
      );
      const accounts = makers.map(({ spec }) => textAt(spec, 'serviceAccountName'));
      const shared = makers.filter(
        ({ spec }) => accounts.filter((account) => account === textAt(spec, 'serviceAccountName')).length > 1,
      );
      return [
        ...shared.map(({ owner }) => `${titleOf(owner)} shares its account`),
        ...eachPod(({ spec }, all) => {
          const account = named(all, 'ServiceAccount', textAt(spec, 'serviceAccountName'));
          return (
            at(spec, 'automountServiceAccountToken') !== false ||
            at(spec, 'enableServiceLinks') !== false ||
            at(account, 'automountServiceAccountToken') !== false
          );
        })({ objects }),
      ];
    },
    violations: [
      (objects) => void delete pod(objects)['automountServiceAccountToken'],
      (objects) => void delete pod(objects)['enableServiceLinks'],
      (objects) => (pod(objects)['serviceAccountName'] = 'default'),
      (objects) => {
        for (const { spec } of podsOf(objects)) spec['serviceAccountName'] = 'ledger';
      },
    ],
  },
  {
    name: 'Pods have a priority class that exists',
    check: eachPod(
      ({ spec }, objects) => !named(objects, 'PriorityClass', textAt(spec, 'priorityClassName')),
    ),
    violations: [(objects) => void delete pod(objects)['priorityClassName']],
  },
  {
    name: 'Pods use nothing of their node',
    check: eachPod(
      ({ spec }) =>
        ['hostNetwork', 'hostPID', 'hostIPC'].some((field) => at(spec, field) === true) ||
        listAt(spec, 'volumes').some((volume) => 'hostPath' in volume) ||
        containersOf({ spec }).some((one) => listAt(one, 'ports').some((port) => 'hostPort' in port)),
    ),
    violations: [
      (objects) => (pod(objects)['hostNetwork'] = true),
      (objects) => (pod(objects)['volumes'] = [{ name: 'x', hostPath: { path: '/' } }]),
    ],
  },
  {
    name: 'containers gain no right, and write to no root',
    check: eachContainer(
      (one) =>
        at(one, 'securityContext.allowPrivilegeEscalation') !== false ||
        at(one, 'securityContext.readOnlyRootFilesystem') !== true ||
        at(one, 'securityContext.privileged') === true ||
        !isSame(at(one, 'securityContext.capabilities'), { drop: ['ALL'] }),
    ),
    violations: [
      (objects) => void delete container(objects)['securityContext'],
      (objects) => ((at(container(objects), 'securityContext') as Fields)['readOnlyRootFilesystem'] = false),
      (objects) =>
        ((at(container(objects), 'securityContext') as Fields)['capabilities'] = { add: ['NET_RAW'] }),
    ],
  },
  {
    name: 'containers write to /tmp, and what is written there is bounded',
    check: ({ objects }) => [
      ...eachContainer((one) => !listAt(one, 'volumeMounts').some((mount) => mount['mountPath'] === '/tmp'))({
        objects,
      })
        // A database has a directory of its own.
        .filter((line) => !line.endsWith(': mongod')),
      ...eachPod(({ spec }) =>
        listAt(spec, 'volumes').some(
          (volume) => 'emptyDir' in volume && Number.isNaN(mebibytes(at(volume, 'emptyDir.sizeLimit'))),
        ),
      )({ objects }),
    ],
    violations: [
      (objects) => (container(objects)['volumeMounts'] = []),
      (objects) => (pod(objects)['volumes'] = [{ name: 'tmp', emptyDir: {} }]),
    ],
  },
  {
    name: 'memory is requested whole, storage on both sides, CPU without a limit',
    check: eachContainer(
      (one) =>
        Number.isNaN(mebibytes(at(one, 'resources.limits.memory'))) ||
        at(one, 'resources.limits.memory') !== at(one, 'resources.requests.memory') ||
        Number.isNaN(mebibytes(at(one, 'resources.limits.ephemeral-storage'))) ||
        Number.isNaN(mebibytes(at(one, 'resources.requests.ephemeral-storage'))) ||
        textAt(one, 'resources.requests.cpu') === '' ||
        at(one, 'resources.limits.cpu') !== undefined,
    ),
    violations: [
      (objects) => (resources(objects, 'requests')['memory'] = '1Mi'),
      (objects) => void delete resources(objects, 'limits')['ephemeral-storage'],
      (objects) => void delete resources(objects, 'requests')['cpu'],
      (objects) => (resources(objects, 'limits')['cpu'] = '1'),
    ],
  },
  {
    name: 'the old space of Node is some three quarters of its memory',
    check: eachContainer((one) => {
      if (at(one, 'command.0') !== 'node') return false;
      const options = textAt(
        listAt(one, 'env').find(({ name }) => name === 'NODE_OPTIONS'),
        'value',
      );
      const share =
        Number(/--max-old-space-size=(\d+)/.exec(options)?.[1]) /
        mebibytes(at(one, 'resources.limits.memory'));
      return !(share >= 0.7 && share <= 0.8);
    }),
    violations: [
      (objects) => (container(objects)['env'] = []),
      (objects) =>
        (container(objects)['env'] = [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=4096' }]),
    ],
  },
  {
    name: 'images are named exactly: by digest where it is released, by latest nowhere',
    check: ({ name, objects }) =>
      eachContainer((one) => {
        const image = textAt(one, 'image');
        return name === 'dev'
          ? !/^[a-z0-9./-]+(?::(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/.test(image)
          : !/^[a-z0-9./-]+@sha256:[0-9a-f]{64}$/.test(image);
      })({ objects }),
    violations: [
      (objects) => (container(objects)['image'] = 'ghcr.io/pesewa/ledger:latest'),
      (objects) => (container(objects)['image'] = 'ghcr.io/pesewa/ledger'),
    ],
  },
  {
    name: 'images are all of a release, or all still to be replaced by one',
    check: ({ objects }) => {
      const images = podsOf(objects).flatMap((one) => containersOf(one).map(({ image }) => String(image)));
      const open = images.filter((image) => image.endsWith(PLACEHOLDER_DIGEST));
      return open.length === 0 || open.length === images.length ? [] : open;
    },
    violations: [
      (objects) => {
        const [one = {}, other = {}] = podsOf(objects).flatMap(containersOf);
        one['image'] = `ghcr.io/pesewa/ledger@${PLACEHOLDER_DIGEST}`;
        other['image'] = `ghcr.io/pesewa/ledger@sha256:${'1'.repeat(64)}`;
      },
    ],
  },
  {
    name: 'the grace of a Pod is longer than its preStop and the end of its process together',
    check: ({ objects }) =>
      podsOf(servicesOf(objects))
        .filter(({ spec }) => {
          const [one = {}] = listAt(spec, 'containers');
          const sleep = numberAt(one, 'lifecycle.preStop.sleep.seconds');
          // The process takes the delay beside its own time (ADR 52).
          const endMs = END_TIMEOUT_MS + Number(configurationOf(objects, one)['DRAIN_DELAY_MS']);
          const needed = sleep + endMs / 1_000 + GRACE_MARGIN_SECONDS;
          return !(sleep >= 5 && sleep <= 10 && numberAt(spec, 'terminationGracePeriodSeconds') >= needed);
        })
        .map(({ owner }) => titleOf(owner)),
    violations: [
      (objects) => {
        for (const { spec } of podsOf(objects)) spec['terminationGracePeriodSeconds'] = 30;
      },
      (objects) => {
        for (const { data } of ofKind(objects, 'ConfigMap')) (data as Fields)['DRAIN_DELAY_MS'] = '10000';
      },
      (objects) => {
        for (const { spec } of podsOf(objects))
          for (const one of listAt(spec, 'containers')) delete one['lifecycle'];
      },
    ],
  },
  {
    name: 'Jobs end, are tried again only so often, and are cleared away',
    check: ({ objects }) =>
      ofKind(objects, 'Job', 'CronJob')
        .filter((job) => {
          const spec = job.kind === 'Job' ? at(job, 'spec') : at(job, 'spec.jobTemplate.spec');
          return ['backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'].some((field) =>
            Number.isNaN(numberAt(spec, field)),
          );
        })
        .map(titleOf),
    violations: [
      (objects) => void delete (at(ofKind(objects, 'Job')[0], 'spec') as Fields)['backoffLimit'],
      (objects) => void delete (at(ofKind(objects, 'Job')[0], 'spec') as Fields)['ttlSecondsAfterFinished'],
    ],
  },
];
