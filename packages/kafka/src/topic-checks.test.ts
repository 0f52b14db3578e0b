import { expect, it } from 'vitest';
import { checkTopics, type FoundTopic } from './topic-checks.ts';

const safe: FoundTopic = { name: 'a', replicas: 3, settings: { minInSync: 2, electsUnclean: false } };

it('topics that survive the loss of a broker are accepted, whatever else there is', () => {
  const found = [safe, { ...safe, name: 'other', replicas: 1, settings: undefined }];
  expect(checkTopics(['a'], found)).toEqual({ problems: [], unchecked: [] });
});

it.each([
  ['is missing', [], /a does not exist/],
  ['has two replicas', [{ ...safe, replicas: 2 }], /a has 2 replicas, and needs 3/],
  [
    'is led by one in sync',
    [{ ...safe, settings: { minInSync: 1, electsUnclean: false } }],
    /insync.replicas=1/,
  ],
  [
    'elects unclean leaders',
    [{ ...safe, settings: { minInSync: 2, electsUnclean: true } }],
    /elects unclean/,
  ],
])('a topic that %s is refused, with a remedy', (_what, found: readonly FoundTopic[], message) => {
  const { problems } = checkTopics(['a'], found);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toMatch(message);
  expect(problems[0]?.remedy).not.toBe('');
});

it('all that is wrong is named at once', () => {
  const found = [{ ...safe, replicas: 1, settings: { minInSync: 1, electsUnclean: true } }];
  expect(checkTopics(['a', 'b'], found).problems).toHaveLength(4);
});

it('settings that brokers do not say are no problem, and said to be unchecked', () => {
  const { problems, unchecked } = checkTopics(['a'], [{ ...safe, settings: undefined }]);
  expect(problems).toEqual([]);
  expect(unchecked).toEqual([expect.stringMatching(/of a are not known: allow this user DescribeConfigs/)]);
});
